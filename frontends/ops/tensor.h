// A value of the graph under construction, with operators, so that the code of
// a format's operator reads like its formula:
//
//   Tensor centered = x - Mean(x, axes, true);
//   return centered / Sqrt(Mean(centered * centered, axes, true) + epsilon);
//
// A Tensor is absent (an optional operand that is not given), failed (the
// builder has an error, which stays), or a value. A failed tensor has
// kMaxRank dims of 1, so that code that reads shapes after an error stays
// in range; its results are never used. Does not own; not thread-safe.
#ifndef EMBER_FRONTENDS_OPS_TENSOR_H_
#define EMBER_FRONTENDS_OPS_TENSOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "tensor/instructions.h"

namespace ember::ops {

using graph::Dim;
using graph::Shape;
using tensor::Opcode;

inline constexpr int kMaxRank = 16;

// A value that is no tensor (sequence, optional or map). The frontend of the
// format that has such values defines the struct
// (frontends/onnx/node/sequence.h).
struct SequenceValue;

class Tensor {
 public:
  Tensor() = default;  // absent
  Tensor(graph::GraphBuilder* builder, graph::Value* value)
      : builder_(builder), value_(value) {}
  Tensor(graph::GraphBuilder* builder,
         std::shared_ptr<const SequenceValue> sequence)
      : builder_(builder), sequence_(std::move(sequence)) {}

  bool present() const { return builder_ != nullptr; }
  explicit operator bool() const { return present(); }
  graph::Value* value() const { return value_; }
  graph::GraphBuilder& builder() const { return *builder_; }
  const Shape& shape() const;
  // Returns a dim. A negative axis counts from the end. If there is no such
  // dim, the builder fails, and the dim is 1.
  const Dim& dim(int axis) const;
  // Returns false if there is no such dim; the builder then fails with a
  // message, unless it has failed already.
  bool HasDim(int axis) const;
  int rank() const { return static_cast<int>(shape().size()); }
  DType dtype() const { return value_ ? value_->dtype() : DType::kF32; }
  bool is_float() const { return IsFloat(dtype()); }
  // Returns the number that the model's format gives the element type, if the
  // type has no dtype (frontends/onnx/node/carried_types.h), else 0.
  int32_t carried_type() const { return carried_type_; }
  Tensor Marked(int32_t carried_type) const {
    Tensor marked = *this;
    marked.carried_type_ = carried_type;
    return marked;
  }
  // Returns the value if it is no tensor but a sequence, an optional or a map;
  // else null.
  const SequenceValue* sequence() const { return sequence_.get(); }
  // Returns `value` as a scalar of the same element type as this tensor.
  Tensor Like(double value) const {
    return {builder_, builder_->Scalar(value, dtype())};
  }

 private:
  graph::GraphBuilder* builder_ = nullptr;
  graph::Value* value_ = nullptr;
  int32_t carried_type_ = 0;
  std::shared_ptr<const SequenceValue> sequence_;
};

Tensor Unary(Opcode opcode, Tensor a);
Tensor Binary(Opcode opcode, Tensor a, Tensor b);

// Every unary instruction has a function of its name. functions.h adds those
// that are composed of several operators.
#define EMBER_OPS_UNARY(name, ...) \
  inline Tensor name(Tensor a) { return Unary(Opcode::k##name, a); }
EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_OPS_UNARY)
EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_OPS_UNARY)
#undef EMBER_OPS_UNARY
inline Tensor operator-(Tensor a) { return Negate(a); }

// Defines a function for a binary instruction. Its operands are two tensors, or
// a tensor and a number, which becomes a scalar of the tensor's type.
#define EMBER_OPS_BINARY(name, opcode)           \
  inline Tensor name(Tensor a, Tensor b) {       \
    return Binary(Opcode::opcode, a, b);         \
  }                                              \
  inline Tensor name(Tensor a, double b) {       \
    return Binary(Opcode::opcode, a, a.Like(b)); \
  }                                              \
  inline Tensor name(double a, Tensor b) {       \
    return Binary(Opcode::opcode, b.Like(a), b); \
  }
EMBER_OPS_BINARY(operator+, kAdd)
EMBER_OPS_BINARY(operator-, kSubtract)
EMBER_OPS_BINARY(operator*, kMultiply)
EMBER_OPS_BINARY(operator/, kDivide)
EMBER_OPS_BINARY(Maximum, kMaximum)
EMBER_OPS_BINARY(Minimum, kMinimum)
EMBER_OPS_BINARY(Power, kPower)
EMBER_OPS_BINARY(Modulo, kModulo)
EMBER_OPS_BINARY(Equal, kEqual)
EMBER_OPS_BINARY(NotEqual, kNotEqual)
EMBER_OPS_BINARY(Less, kLess)
EMBER_OPS_BINARY(LessEqual, kLessEqual)
EMBER_OPS_BINARY(And, kAnd)
EMBER_OPS_BINARY(Or, kOr)
#undef EMBER_OPS_BINARY

Tensor Select(Tensor condition, Tensor a, Tensor b);
Tensor Cast(Tensor a, DType dtype);

Tensor Reshape(Tensor a, const Shape& shape);
Tensor Transpose(Tensor a, std::vector<int64_t> permutation);
Tensor Broadcast(Tensor a, const Shape& shape);
Tensor Squeeze(Tensor a, std::vector<int64_t> axes);
Tensor Unsqueeze(Tensor a, std::vector<int64_t> axes);
// Returns `size` slices of an axis: those at start, start + step, ….
Tensor SliceAxis(Tensor a, int axis, const Dim& start, const Dim& size,
                 int64_t step = 1);
Tensor Slice(Tensor a, const Shape& starts, std::vector<int64_t> steps,
             const Shape& sizes);
Tensor Pad(Tensor a, const Shape& low, const Shape& high, std::string_view mode,
           Tensor value);
Tensor Concat(const std::vector<Tensor>& values, int axis);
// Gathers slices along an axis. `indices` must be i64 and in range.
Tensor Gather(Tensor data, Tensor indices, int axis);

// Reduces the axes with a combiner. f16 and bf16 are computed in f32.
Tensor Reduce(Tensor a, std::string_view combiner, std::vector<int64_t> axes,
              bool keep);
Tensor Mean(Tensor a, std::vector<int64_t> axes, bool keep);
Tensor Contract(Tensor a, Tensor b, std::string_view spec);
Tensor MatMul(Tensor a, Tensor b);
Tensor Softmax(Tensor a, int axis);

// Apply and ApplyAll add any operator of the graph by its name. Apply returns
// the first result, ApplyAll all results (none after an error).
Tensor Apply(std::string_view name, const std::vector<Tensor>& operands,
             graph::Attributes attributes);
std::vector<Tensor> ApplyAll(std::string_view name,
                             const std::vector<Tensor>& operands,
                             graph::Attributes attributes);

// These functions convert tensors to values of the graph builder, and values to
// tensors.
std::vector<graph::Value*> ValuesOf(std::span<const Tensor> tensors);
std::vector<Tensor> TensorsOf(graph::GraphBuilder& builder,
                              std::span<graph::Value* const> values);

// Reshapes a one-dimensional tensor so that it lies along `axis` of a tensor of
// rank `rank`.
Tensor AlongAxis(Tensor vector, int axis, int rank);
// Returns the vector 0, 1, … size - 1.
Tensor IotaVector(graph::GraphBuilder& builder, const Dim& size, DType dtype);

// Returns the type to compute in: f32 for narrow floats, the type itself for
// others.
DType ComputeType(DType dtype);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_TENSOR_H_
