// Builds a graph for a frontend: one function per operator, convenience
// compositions, and the known contents of small integer tensors (shapes as
// data), which make symbolic dims of the shape arithmetic that exporters write.
//
//   GraphBuilder b("mlp");
//   Value* x = b.Input("x", {DType::kF32, {Dim::Symbol("N"), 4}});
//   b.SetOrigin("Gemm_0 (Gemm)");
//   Value* y =
//       b.Maximum(b.Add(b.MatMul(x, w), bias), b.Scalar(0, DType::kF32));
//   b.Output("y", y);
//   StatusOr<Graph> graph = b.Finish();
//
// An operation that computes nothing (a reshape to the same shape, a cast to
// the same type, a concat of one …) is not made; the operand is returned. Small
// operations on constants are evaluated at once. Negative axes count from the
// end.
//
// Errors are sticky: after the first one every call returns null and does
// nothing; Finish (or status()) reports it. So call sites need no checks, and a
// null operand is an error of its own only if nothing failed before. Not
// thread-safe.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_BUILDER_H_
#define EMBER_COMPILER_GRAPH_BUILDER_BUILDER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/builder/integer_contents.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/operators.h"
#include "tensor/instructions.h"

namespace ember::graph {

// The default limit on the number of operations that a GraphBuilder makes.
inline constexpr int64_t kOperationLimit = int64_t{1} << 24;

class GraphBuilder {
 public:
  // The builder and those of its regions make at most operation_limit
  // operations together; one more is an error (ResourceExhausted). Operations
  // that are evaluated at once, or not made because they compute nothing, count
  // too: the limit bounds the builder's work. A builder with limit k fails at
  // its operation k + 1, so tests can check what callers do after an error at
  // any point.
  explicit GraphBuilder(std::string name,
                        int64_t operation_limit = kOperationLimit)
      : graph_(std::move(name)),
        shared_(std::make_shared<Shared>(operation_limit)) {}
  // Returns a builder for a region of this graph (control_flow.h). Its fresh
  // symbols differ from all others of the model.
  GraphBuilder Inner(std::string name) const;

  // Adds an input of the graph. For `logical_type` see Graph::AddInput.
  Value* Input(std::string name, TensorType type,
               std::string logical_type = "");
  void Output(std::string name, Value* value, std::string logical_type = "");
  // Sets the origin (the name of the model's node) of the operations that are
  // made from here on.
  void SetOrigin(std::string origin) { origin_ = std::move(origin); }
  const std::string& origin() const { return origin_; }
  // Sets how open dims broadcast from here on, also in regions made from here
  // on.
  void SetBroadcasting(Broadcasting broadcasting) {
    broadcasting_ = broadcasting;
  }
  // Returns the pairs of dims that kAssumeEqual has assumed to be equal so far,
  // in regions too: dims that may broadcast and that are known as soon as the
  // model's inputs are. Each pair occurs once.
  const std::vector<AssumedDims>& assumed_dims() const {
    return shared_->assumed_dims;
  }
  // Decides how an operator with its own broadcasting rules treats two of its
  // dims. Returns true if only the data decides whether `a` is 1 while `b` is
  // not. Returns false if this is known already, or if the caller may assume
  // that `a` is not 1; the builder then records the assumption.
  bool LeavesBroadcastOpen(const Dim& a, const Dim& b);
  // True if the graph assumes that some dims are equal, as a reshape of open
  // dims may require.
  bool AssumesDims() const;
  const Status& status() const { return status_; }
  // Sets the builder's error. Only the first error is kept.
  void Fail(Status status);
  StatusOr<Graph> Finish();

  // Adds any operator by name and returns its first result. An unknown name is
  // an error. Contractions of narrow floats, for which the operator gives f32,
  // are cast back to the operands' type.
  Value* Apply(std::string_view operator_name, std::vector<Value*> operands,
               Attributes attributes = {});
  // Adds any operator by name, as Apply does, and returns all of its results;
  // none after an error.
  std::vector<Value*> ApplyAll(std::string_view operator_name,
                               std::vector<Value*> operands,
                               Attributes attributes = {},
                               std::vector<Graph> regions = {});

  // Returns a symbol that no other dim of the model uses.
  Dim FreshSymbol();
  // Returns the elements of an integer tensor of one dim as dims: its contents
  // if they are known, else symbols that get their values when the program
  // runs, where a negative value is an error. Empty after an error.
  std::vector<Dim> Extents(Value* value);
  // Makes the run fail with the message unless the scalar bool is true. The
  // check stays in its region even if no result uses it; a region that does not
  // run checks nothing.
  void Require(Value* condition, std::string message);

  // Returns the handle of a string (Graph::strings). Equal strings have equal
  // handles.
  int64_t StringHandle(std::string_view text);

  // These functions make constants. Constant takes the bytes of all elements;
  // Scalar makes a constant of one element.
  Value* Constant(DType dtype, std::vector<int64_t> shape, ConstantData data);
  Value* Scalar(double value, DType dtype);
  // Makes a constant i64[k] with these k values.
  Value* Integers(std::span<const int64_t> values);
  // Makes a value i64[k] whose elements are these k expressions.
  Value* ShapeValue(const Shape& values);
  // Makes a value i64[] (a scalar) that the program computes from this
  // expression.
  Value* DimValue(const Dim& value);
  Value* Iota(const Shape& shape, int axis, DType dtype);

  // The following functions make elementwise operators, with broadcasting: any
  // operator of the instruction table by its opcode, and the common ones by
  // name.
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

  // The following functions move elements. If the element counts of operand and
  // result are not known to be equal, they are assumed to be equal, which the
  // program checks.
  Value* Reshape(Value* a, const Shape& shape);
  Value* Transpose(Value* a, std::vector<int64_t> permutation);
  Value* Broadcast(Value* a, const Shape& shape);
  Value* Squeeze(Value* a, std::span<const int64_t> axes);
  Value* Unsqueeze(Value* a, std::span<const int64_t> axes);
  Value* Slice(Value* a, const Shape& starts, std::vector<int64_t> steps,
               const Shape& sizes);
  // Pads a tensor. `value` is a scalar for mode "constant", else null.
  Value* Pad(Value* a, const Shape& low, const Shape& high,
             std::string_view mode, Value* value);
  Value* Concat(std::vector<Value*> values, int axis);
  Value* Gather(Value* data, Value* indices, int axis);

  // The following functions make reductions and contractions. With `keep`, each
  // reduced dim stays in the result as a dim of extent 1.
  Value* Reduce(Value* a, std::string_view combiner, std::vector<int64_t> axes,
                bool keep);
  Value* Contract(Value* a, Value* b, std::string_view spec);
  // Multiplies matrices as numpy.matmul does, with broadcasting of batch dims.
  Value* MatMul(Value* a, Value* b);
  // Computes the softmax along an axis; narrow floats are computed in f32.
  Value* Softmax(Value* a, int axis);
  // Computes the mean along axes. Divides integers toward zero, and computes
  // narrow floats in f32.
  Value* Mean(Value* a, std::vector<int64_t> axes, bool keep);

  // Returns the integer contents of a value, row-major, if they are known as
  // expressions: constants, shape_value, and arithmetic, slicing, gathering or
  // concatenation of them (integer_contents.h). nullopt if they are unknown or
  // more than a few hundred elements. Frontends read Reshape's target shape and
  // the like this way.
  std::optional<std::vector<Dim>> IntegerContents(Value* value) const;
  // Returns the contents of a constant (or of operations on small constants) as
  // doubles; nullopt if the value is not constant. 64-bit integers beyond 2^53
  // are rounded.
  std::optional<std::vector<double>> ConstantContents(Value* value) const;

 private:
  // True if no earlier operation failed and no operand is null. A null operand
  // is an error in the caller (kInternal).
  bool Ready(std::span<Value* const> operands);
  // Counts one more operation. If the limit does not allow it, sets the
  // builder's error and returns false.
  bool TakeOperation();
  Value* Add(const OperatorRecord& record, std::vector<Value*> operands,
             Attributes attributes);
  // Makes the operands of an elementwise operator, or of `broadcast`, fit each
  // other. Where two dims may broadcast, the operand is repeated, or the
  // builder records that the dims are assumed to be equal. `fixed` is the shape
  // of the result of `broadcast`; null for elementwise operators.
  bool AlignDims(std::vector<Value*>& operands, const Shape* fixed);
  // Returns `a` with `extent` along the axis. If the axis has the extent 1 when
  // the program runs, its element is repeated; otherwise it must have `extent`
  // already.
  Value* Stretch(Value* a, size_t axis, const Dim& extent);
  void Remember(const Dim& a, const Dim& b);
  // Returns the axis counted from the start; fails if there is no such axis.
  // Negative axes count from the end.
  int64_t Axis(int64_t axis, int rank);
  std::vector<int64_t> Axes(std::span<const int64_t> axes, int rank);

  Graph graph_;
  Status status_;
  std::string origin_;
  graph::IntegerContents contents_;
  Broadcasting broadcasting_ = Broadcasting::kAssumeEqual;
  // State shared with the builders of regions.
  struct Shared {
    explicit Shared(int64_t limit) : operation_limit(limit) {}

    int64_t operation_limit;
    int64_t operations = 0;  // number of operations made so far
    int64_t symbols = 0;     // number of fresh symbols made so far
    std::vector<std::string> strings;
    std::map<std::string, int64_t, std::less<>> handles;
    std::vector<AssumedDims> assumed_dims;
  };
  std::shared_ptr<Shared> shared_;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_BUILDER_H_
