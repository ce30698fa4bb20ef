// What a frontend needs to make a graph: one function per operator, convenience
// compositions, and the knowledge of small integer tensors (shapes as data)
// that turns exporters' shape arithmetic back into symbolic dims.
//
//   GraphBuilder b("mlp");
//   Value* x = b.Input("x", {DType::kF32, {Dim::Symbol("N"), 4}});
//   b.SetOrigin("Gemm_0 (Gemm)");
//   Value* y =
//       b.Maximum(b.Add(b.MatMul(x, w), bias), b.Scalar(0, DType::kF32));
//   b.Output("y", y);
//   StatusOr<Graph> graph = b.Finish();
//
// Operations that compute nothing (a reshape to the same shape, a cast to the
// same type, a concat of one …) are not made, the operand is returned; small
// operations on constants are evaluated at once. Axes may be negative: they
// count from the end.
//
// Errors are sticky: after the first one every call returns null and does
// nothing; Finish (or status()) reports it. So call sites need no checks, and a
// null operand is only an error of its own where nothing failed before. Not
// thread-safe.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_H_
#define EMBER_COMPILER_GRAPH_BUILDER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/broadcasting.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/integer_contents.h"
#include "compiler/graph/operators.h"
#include "tensor/instructions.h"

namespace ember::graph {

// How many operations a builder makes if nobody says otherwise.
inline constexpr int64_t kOperationLimit = int64_t{1} << 24;

class GraphBuilder {
 public:
  // The builder and those of its regions make at most operation_limit
  // operations together; one more is an error (ResourceExhausted). Operations
  // that are evaluated at once, or not made because they compute nothing,
  // count, too: the limit bounds the builder's work. As a builder with limit k
  // fails at its operation k + 1, tests find by it what callers do after an
  // error at any point.
  explicit GraphBuilder(std::string name,
                        int64_t operation_limit = kOperationLimit)
      : graph_(std::move(name)),
        shared_(std::make_shared<Shared>(operation_limit)) {}
  // A builder for a region of this graph (control_flow.h): its fresh symbols
  // differ from the others of the whole model.
  GraphBuilder Inner(std::string name) const;

  // logical_type: see Graph::AddInput.
  Value* Input(std::string name, TensorType type,
               std::string logical_type = "");
  void Output(std::string name, Value* value, std::string logical_type = "");
  // Node name given to the operations made from here on.
  void SetOrigin(std::string origin) { origin_ = std::move(origin); }
  const std::string& origin() const { return origin_; }
  // How open dims broadcast from here on, in regions made from here on, too.
  void SetBroadcasting(Broadcasting broadcasting) {
    broadcasting_ = broadcasting;
  }
  // What kAssumeEqual has assumed so far of dims that may broadcast and are
  // known when the model's inputs are; of regions, too. Each pair once.
  const std::vector<AssumedDims>& assumed_dims() const {
    return shared_->assumed_dims;
  }
  // For what broadcasts by rules of its own: true if the caller has to let the
  // data decide whether `a` is 1 where `b` is not; else it may take `a` not to
  // be 1, and this is remembered.
  bool LeavesBroadcastOpen(const Dim& a, const Dim& b);
  const Status& status() const { return status_; }
  void Fail(Status status);  // keeps the first
  StatusOr<Graph> Finish();

  // Any operator, by name; its first result. An unknown name is an error.
  // Contractions of f16 and bf16 come back in the operands' type (the operator
  // gives f32).
  Value* Apply(std::string_view operator_name, std::vector<Value*> operands,
               Attributes attributes = {});
  // All results; none after an error.
  std::vector<Value*> ApplyAll(std::string_view operator_name,
                               std::vector<Value*> operands,
                               Attributes attributes = {},
                               std::vector<Graph> regions = {});

  // A symbol that no other dim of the model uses.
  Dim FreshSymbol();
  // Elements of an integer tensor of one dim as dims: its contents where they
  // are known, else symbols that get their values when the program runs, where
  // a value below 0 is an error. Empty after an error.
  std::vector<Dim> Extents(Value* value);
  // The run fails with the message unless the scalar bool is true. Stays
  // wherever it stands, whatever is used of the graph: a region that is not run
  // requires nothing.
  void Require(Value* condition, std::string message);

  // The handle of a string (Graph::strings): equal strings have equal handles.
  int64_t StringHandle(std::string_view text);

  // Constants.
  Value* Constant(DType dtype, std::vector<int64_t> shape, ConstantData data);
  Value* Scalar(double value, DType dtype);
  Value* Integers(std::span<const int64_t> values);  // i64[k]
  Value* ShapeValue(const Shape& values);            // i64[k] of expressions
  Value* DimValue(const Dim& value);                 // i64[]
  Value* Iota(const Shape& shape, int axis, DType dtype);

  // Elementwise, broadcasting: any row of the instruction table by opcode, and
  // the common ones.
  Value* Unary(tensor::Opcode opcode, Value* a);
  Value* Binary(tensor::Opcode opcode, Value* a, Value* b);
  Value* Add(Value* a, Value* b);
  Value* Subtract(Value* a, Value* b);
  Value* Multiply(Value* a, Value* b);
  Value* Divide(Value* a, Value* b);
  Value* Maximum(Value* a, Value* b);
  Value* Minimum(Value* a, Value* b);
  Value* Select(Value* condition, Value* a, Value* b);
  Value* Cast(Value* a, DType dtype);

  // Data movement.
  // Element counts that are not known to be equal are assumed to be.
  Value* Reshape(Value* a, const Shape& shape);
  Value* Transpose(Value* a, std::vector<int64_t> permutation);
  Value* Broadcast(Value* a, const Shape& shape);
  Value* Squeeze(Value* a, std::span<const int64_t> axes);
  Value* Unsqueeze(Value* a, std::span<const int64_t> axes);
  Value* Slice(Value* a, const Shape& starts, std::vector<int64_t> steps,
               const Shape& sizes);
  // value: a scalar for mode "constant", else null.
  Value* Pad(Value* a, const Shape& low, const Shape& high,
             std::string_view mode, Value* value);
  Value* Concat(std::vector<Value*> values, int axis);
  Value* Gather(Value* data, Value* indices, int axis);

  // Reductions and contractions. keep: reduced dims stay as 1.
  Value* Reduce(Value* a, std::string_view combiner, std::vector<int64_t> axes,
                bool keep);
  Value* Contract(Value* a, Value* b, std::string_view spec);
  Value* MatMul(Value* a,
                Value* b);  // numpy.matmul, with broadcasting of batch dims
  // f16 and bf16 are computed in f32.
  Value* Softmax(Value* a, int axis);
  // Integers divide toward zero. f16 and bf16 are summed in f32.
  Value* Mean(Value* a, std::vector<int64_t> axes, bool keep);

  // Integer contents of a value where they are known as expressions (constants,
  // shape_value and arithmetic, slicing, gathering, concatenation … of them:
  // integer_contents.h), row-major; nullopt if unknown or more than a few
  // hundred elements. This is how Reshape's target shape and the like are read.
  std::optional<std::vector<Dim>> IntegerContents(Value* value) const;
  // Contents of a constant (or of operations on small constants), as doubles;
  // nullopt if not constant. 64-bit integers beyond 2^53 round.
  std::optional<std::vector<double>> ConstantContents(Value* value) const;

 private:
  // True if nothing failed and no operand is null.
  bool Ready(std::span<Value* const> operands);
  // Counts one more operation; false, and an error, if the limit allows none.
  bool TakeOperation();
  Value* Add(const OperatorRecord& record, std::vector<Value*> operands,
             Attributes attributes);
  // Operands of an elementwise operator or of `broadcast` (whose result's shape
  // is `fixed`): dims that may broadcast are repeated, or the builder remembers
  // that they will be assumed to be equal.
  bool AlignDims(std::vector<Value*>& operands, const Shape* fixed);
  // A dim that is 1 or `extent` when the program runs, as one of `extent`.
  Value* Stretch(Value* a, size_t axis, const Dim& extent);
  void Remember(const Dim& a, const Dim& b);
  // The axis counted from the start; fails if it is not one.
  int64_t Axis(int64_t axis, int rank);
  std::vector<int64_t> Axes(std::span<const int64_t> axes, int rank);

  Graph graph_;
  Status status_;
  std::string origin_;
  graph::IntegerContents contents_;
  Broadcasting broadcasting_ = Broadcasting::kAssumeEqual;
  // With the builders of regions.
  struct Shared {
    explicit Shared(int64_t limit) : operation_limit(limit) {}

    int64_t operation_limit;
    int64_t operations = 0;  // so far
    int64_t symbols = 0;     // fresh ones so far
    std::vector<std::string> strings;
    std::map<std::string, int64_t, std::less<>> handles;
    std::vector<AssumedDims> assumed_dims;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_H_
