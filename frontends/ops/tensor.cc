#include "frontends/ops/tensor.h"

#include <numeric>
#include <string>
#include <utility>

#include "frontends/ops/dims.h"
#include "frontends/ops/one_type.h"

namespace ember::ops {
namespace {

// Runs `compute` in f32 for f16 and bf16, and rounds once at the end.
template <typename Compute>
Tensor InComputeType(Tensor a, const Compute& compute) {
  const DType type = a.dtype();
  const DType wide = ComputeType(type);
  return Cast(compute(Cast(a, wide)), type);
}

// Runs `compute` on two operands of one type, in f32 if they are f16 or bf16,
// and rounds once at the end.
template <typename Compute>
Tensor InComputeType(Tensor a, Tensor b, const Compute& compute) {
  if (!HaveOneType({a, b})) return {&a.builder(), nullptr};
  return InComputeType(
      a, [&](Tensor wide) { return compute(wide, Cast(b, wide.dtype())); });
}

}  // namespace

const Shape& Tensor::shape() const {
  static const Shape* const kFailed = new Shape(kMaxRank, Dim(1));
  return value_ ? value_->shape() : *kFailed;
}

bool Tensor::HasDim(int axis) const {
  const int index = axis < 0 ? axis + rank() : axis;
  if (index >= 0 && index < rank()) return true;
  if (value_ != nullptr) {
    builder_->Fail(InvalidArgumentError(
        "node '" + builder_->origin() + "': expected an operand with a dim " +
        std::to_string(axis) + ", found " + graph::ToString(value_->type())));
  }
  return false;
}

const Dim& Tensor::dim(int axis) const {
  static const Dim* const kFailed = new Dim(1);
  if (!HasDim(axis)) return *kFailed;
  return shape()[axis < 0 ? axis + rank() : axis];
}

Tensor Unary(Opcode opcode, Tensor a) {
  return {&a.builder(), a.builder().Unary(opcode, a.value())};
}

Tensor Binary(Opcode opcode, Tensor a, Tensor b) {
  return {&a.builder(), a.builder().Binary(opcode, a.value(), b.value())};
}

Tensor Select(Tensor condition, Tensor a, Tensor b) {
  return {&a.builder(),
          a.builder().Select(condition.value(), a.value(), b.value())};
}

Tensor Cast(Tensor a, DType dtype) {
  if (a.dtype() == dtype) return a;
  return {&a.builder(), a.builder().Cast(a.value(), dtype)};
}

Tensor Reshape(Tensor a, const Shape& shape) {
  if (a.shape() == shape) return a;
  return {&a.builder(), a.builder().Reshape(a.value(), shape)};
}

Tensor Transpose(Tensor a, std::vector<int64_t> permutation) {
  std::vector<int64_t> identity(permutation.size());
  std::iota(identity.begin(), identity.end(), 0);
  if (permutation == identity) return a;
  return {&a.builder(),
          a.builder().Transpose(a.value(), std::move(permutation))};
}

Tensor Broadcast(Tensor a, const Shape& shape) {
  if (a.shape() == shape) return a;
  return {&a.builder(), a.builder().Broadcast(a.value(), shape)};
}

Tensor Squeeze(Tensor a, std::vector<int64_t> axes) {
  return {&a.builder(), a.builder().Squeeze(a.value(), axes)};
}

Tensor Unsqueeze(Tensor a, std::vector<int64_t> axes) {
  return {&a.builder(), a.builder().Unsqueeze(a.value(), axes)};
}

Tensor SliceAxis(Tensor a, int axis, const Dim& start, const Dim& size,
                 int64_t step) {
  if (!a.HasDim(axis)) return {&a.builder(), nullptr};
  const Dim least = start + size;
  if (step == 1 && least.is_constant() && !a.dim(axis).is_constant() &&
      a.dim(axis).LowerBound().value_or(0) < least.constant()) {
    // An open dim may be too small for the slice. The program then checks at
    // run time that it is at least `least`.
    Shape checked = a.shape();
    const auto place = static_cast<size_t>(axis < 0 ? axis + a.rank() : axis);
    checked[place] = Maximum(checked[place], least);
    a = Apply("assume", {a}, {{"shape", checked}});
  }
  Shape starts(a.rank(), Dim(0));
  Shape sizes = a.shape();
  std::vector<int64_t> steps(a.rank(), 1);
  starts[axis] = start;
  sizes[axis] = size;
  steps[axis] = step;
  return Slice(a, starts, std::move(steps), sizes);
}

Tensor Slice(Tensor a, const Shape& starts, std::vector<int64_t> steps,
             const Shape& sizes) {
  return {&a.builder(),
          a.builder().Slice(a.value(), starts, std::move(steps), sizes)};
}

Tensor Pad(Tensor a, const Shape& low, const Shape& high, std::string_view mode,
           Tensor value) {
  return {&a.builder(),
          a.builder().Pad(a.value(), low, high, mode, value.value())};
}

Tensor Concat(const std::vector<Tensor>& values, int axis) {
  if (values.size() == 1) return values.front();
  graph::GraphBuilder& builder = values.front().builder();
  return {&builder, builder.Concat(ValuesOf(values), axis)};
}

Tensor Gather(Tensor data, Tensor indices, int axis) {
  return {&data.builder(),
          data.builder().Gather(data.value(), indices.value(), axis)};
}

Tensor Reduce(Tensor a, std::string_view combiner, std::vector<int64_t> axes,
              bool keep) {
  if (axes.empty()) return a;
  graph::GraphBuilder& builder = a.builder();
  return InComputeType(a, [&](Tensor wide) -> Tensor {
    return {&builder,
            builder.Reduce(wide.value(), combiner, std::move(axes), keep)};
  });
}

Tensor Mean(Tensor a, std::vector<int64_t> axes, bool keep) {
  if (axes.empty()) return a;
  graph::GraphBuilder& builder = a.builder();
  return InComputeType(a, [&](Tensor wide) -> Tensor {
    return {&builder, builder.Mean(wide.value(), std::move(axes), keep)};
  });
}

Tensor Contract(Tensor a, Tensor b, std::string_view spec) {
  graph::GraphBuilder& builder = a.builder();
  return InComputeType(a, b, [&](Tensor x, Tensor y) -> Tensor {
    return {&builder, builder.Contract(x.value(), y.value(), spec)};
  });
}

Tensor MatMul(Tensor a, Tensor b) {
  graph::GraphBuilder& builder = a.builder();
  return InComputeType(a, b, [&](Tensor x, Tensor y) -> Tensor {
    return {&builder, builder.MatMul(x.value(), y.value())};
  });
}

Tensor Softmax(Tensor a, int axis) {
  graph::GraphBuilder& builder = a.builder();
  return InComputeType(a, [&](Tensor wide) -> Tensor {
    return {&builder, builder.Softmax(wide.value(), axis)};
  });
}

Tensor Apply(std::string_view name, const std::vector<Tensor>& operands,
             graph::Attributes attributes) {
  graph::GraphBuilder& builder = operands.front().builder();
  return {&builder,
          builder.Apply(name, ValuesOf(operands), std::move(attributes))};
}

std::vector<Tensor> ApplyAll(std::string_view name,
                             const std::vector<Tensor>& operands,
                             graph::Attributes attributes) {
  graph::GraphBuilder& builder = operands.front().builder();
  return TensorsOf(builder, builder.ApplyAll(name, ValuesOf(operands),
                                             std::move(attributes)));
}

std::vector<graph::Value*> ValuesOf(std::span<const Tensor> tensors) {
  std::vector<graph::Value*> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.value());
  return values;
}

std::vector<Tensor> TensorsOf(graph::GraphBuilder& builder,
                              std::span<graph::Value* const> values) {
  std::vector<Tensor> tensors;
  for (graph::Value* value : values) tensors.emplace_back(&builder, value);
  return tensors;
}

Tensor AlongAxis(Tensor vector, int axis, int rank) {
  graph::GraphBuilder& builder = vector.builder();
  if (!builder.status().ok()) return {&builder, nullptr};
  if (vector.rank() == 0 || axis < 0 || axis >= rank) {
    builder.Fail(InvalidArgumentError(
        "node '" + builder.origin() + "': expected a vector along axis " +
        std::to_string(axis) + " of rank " + std::to_string(rank) + ", found " +
        graph::ToString(vector.value()->type())));
    return {&builder, nullptr};
  }
  Shape shape(rank, Dim(1));
  shape[axis] = vector.dim(0);
  return Reshape(vector, shape);
}

Tensor IotaVector(graph::GraphBuilder& builder, const Dim& size, DType dtype) {
  return {&builder, builder.Iota({size}, 0, dtype)};
}

DType ComputeType(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 ? DType::kF32 : dtype;
}

}  // namespace ember::ops
