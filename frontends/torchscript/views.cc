#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

// Returns the base with the elements start, start + step … of an axis replaced.
Tensor WithSlice(const Tensor& base, const Tensor& part, int axis,
                 const Dim& start, const Dim& size, int64_t step) {
  const Dim extent = base.dim(axis);
  if (size == extent && step == 1) return part;
  if (size == Dim(0)) return base;
  graph::GraphBuilder& builder = base.builder();
  const int rank = base.rank();
  if (step == 1) {
    std::vector<Tensor> parts;
    if (start != Dim(0))
      parts.push_back(ops::SliceAxis(base, axis, Dim(0), start));
    parts.push_back(part);
    const Dim rest = extent - start - size;
    if (rest != Dim(0))
      parts.push_back(ops::SliceAxis(base, axis, start + size, rest));
    return Concat(parts, axis);
  }
  // For each element of the base: true if it is one of them, and its index in
  // the part.
  const Tensor place =
      IotaVector(builder, extent, DType::kI64) - ops::DimScalar(builder, start);
  const auto width = static_cast<double>(step);
  const Tensor number =
      ops::Binary(Opcode::kFloorDivide, place, place.Like(width));
  const Tensor last = ops::DimScalar(builder, size - Dim(1));
  const Tensor is_one = ops::And(
      ops::Equal(number * width, place),
      ops::And(ops::LessEqual(0, place), ops::LessEqual(number, last)));
  const Tensor index = ops::Minimum(ops::Maximum(number, 0), last);
  return ops::Select(ops::AlongAxis(is_one, axis, rank),
                     ops::Gather(part, index, axis), base);
}

}  // namespace

bool CheckNewRank(Call& c, size_t rank) {
  if (rank <= static_cast<size_t>(kMaxRank)) return c.ok();
  c.FailUnsupported("expected at most " + std::to_string(kMaxRank) +
                    " dims, found " + std::to_string(rank));
  return false;
}

Value ReshapedView(Call& c, std::string_view name, const Shape& shape) {
  const Value& value = c.value(name);
  if (!c.ok()) return {};
  if (!value.is_tensor())
    return c.machine().NewTensor(ops::Reshape(c.tensor(name), shape));
  return c.machine().NewView(
      *value.cell, [shape](Tensor base) { return ops::Reshape(base, shape); },
      [](Tensor base, Tensor part) {
        return ops::Reshape(part, base.shape());
      });
}

Value PermutedView(Call& c, std::string_view name,
                   const std::vector<int64_t>& order) {
  if (!c.ok()) return {};
  const std::vector<int64_t> back = InverseOrder(order);
  return c.machine().NewView(
      *c.value(name).cell,
      [order](Tensor base) { return ops::Transpose(base, order); },
      [back](Tensor, Tensor part) { return ops::Transpose(part, back); });
}

Value SlicedView(Call& c, std::string_view name, int axis, const Dim& start,
                 const Dim& size, int64_t step) {
  if (!c.ok()) return {};
  return c.machine().NewView(
      *c.value(name).cell,
      [=](Tensor base) {
        if (size == base.dim(axis) && step == 1) return base;
        return ops::SliceAxis(base, axis, start, size, step);
      },
      [=](Tensor base, Tensor part) {
        return WithSlice(base, part, axis, start, size, step);
      });
}

Value SelectedView(Call& c, std::string_view name, int axis, const Dim& index) {
  if (!c.ok()) return {};
  return c.machine().NewView(
      *c.value(name).cell,
      [=](Tensor base) {
        return ops::Squeeze(ops::SliceAxis(base, axis, index, Dim(1)), {axis});
      },
      [=](Tensor base, Tensor part) {
        return WithSlice(base, ops::Unsqueeze(part, {axis}), axis, index,
                         Dim(1), 1);
      });
}

Value ExpandedView(Call& c, std::string_view name, const Shape& shape) {
  const Tensor x = c.tensor(name);
  if (!c.ok()) return {};
  if (x.shape() == shape) return c.value(name);
  return c.machine().NewView(
      *c.value(name).cell,
      [shape](Tensor base) { return ops::Broadcast(base, shape); }, nullptr);
}

}  // namespace ember::torchscript
