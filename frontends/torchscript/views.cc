#include "frontends/torchscript/views.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ember::torchscript {
namespace {

// Returns `base` with the elements start, start + step … of an axis replaced by
// those of `part`.
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
  // For each index along the axis: `number` is the index of the element of the
  // part that belongs there, and `is_one` is true if there is one.
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

// Returns the strides of a tensor's elements in another shape with as many
// elements; nullopt if no strides give the same order of the elements in
// memory.
std::optional<Shape> StridesAs(const Shape& shape, const Shape& strides,
                               const Shape& wanted) {
  if (shape.size() != strides.size()) return std::nullopt;
  if (shape.empty()) return RowMajorStrides(wanted);
  // Axes that are contiguous in memory form a run, which can be divided anew.
  // Runs are found from the last axis on.
  Shape result(wanted.size());
  size_t next = wanted.size();
  Dim run(1);
  Dim filled(1);
  Dim step = strides.back();
  for (size_t i = shape.size(); i-- > 0;) {
    run = run * shape[i];
    const bool goes_on =
        i > 0 && (shape[i - 1] == Dim(1) || strides[i - 1] == run * step);
    if (goes_on) continue;
    while (next > 0 && (filled != run || wanted[next - 1] == Dim(1))) {
      --next;
      result[next] = filled * step;
      filled = filled * wanted[next];
    }
    if (filled != run) return std::nullopt;
    if (i > 0) step = strides[i - 1];
    run = filled = Dim(1);
  }
  if (next > 0) return std::nullopt;
  return result;
}

Value ReshapedAs(Machine& machine, Cell& base, const Shape& shape,
                 Shape strides) {
  return machine.NewView(
      base, std::move(strides),
      [shape](Tensor x) { return ops::Reshape(x, shape); },
      [](Tensor x, Tensor part) { return ops::Reshape(part, x.shape()); });
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
  return ReshapedViewOf(c.machine(), *value.cell, shape);
}

Value AliasOf(Machine& machine, const Value& value) {
  if (!value.is_tensor()) return value;
  Cell& cell = *value.cell;
  const Tensor now = machine.Read(cell);
  if (!machine.ok()) return {};
  if (cell.base == nullptr) {
    Value view = machine.NewView(
        cell, machine.StridesOf(cell), [](Tensor base) { return base; },
        [](Tensor, Tensor part) { return part; });
    view.cell->quantization = cell.quantization;
    view.cell->is_complex = cell.is_complex;
    return view;
  }
  // An alias of a view becomes a view of the same base, so that chains of views
  // do not grow.
  Value view = machine.NewTensor(now);
  const uint64_t made = view.cell->made;
  *view.cell = cell;
  view.cell->made = made;
  return view;
}

Value ReshapedViewOf(Machine& machine, Cell& base, const Shape& shape) {
  const Shape before = machine.Read(base).shape();
  if (!machine.ok()) return {};
  const std::optional<Shape> strides =
      StridesAs(before, machine.StridesOf(base), shape);
  return ReshapedAs(machine, base, shape,
                    strides.value_or(RowMajorStrides(shape)));
}

Value ReshapedViewOrCopy(Call& c, std::string_view name, const Shape& shape) {
  const Value& value = c.value(name);
  if (!c.ok()) return {};
  if (value.is_tensor()) {
    Cell& base = *value.cell;
    std::optional<Shape> strides =
        StridesAs(c.tensor(name).shape(), c.machine().StridesOf(base), shape);
    if (strides)
      return ReshapedAs(c.machine(), base, shape, *std::move(strides));
  }
  return c.machine().NewTensor(ops::Reshape(c.tensor(name), shape));
}

Value PermutedView(Call& c, std::string_view name,
                   const std::vector<int64_t>& order) {
  if (!c.ok()) return {};
  const std::vector<int64_t> back = InverseOrder(order);
  Cell& cell = *c.value(name).cell;
  const Shape before = c.machine().StridesOf(cell);
  Shape strides;
  for (const int64_t axis : order)
    strides.push_back(before[static_cast<size_t>(axis)]);
  return c.machine().NewView(
      cell, std::move(strides),
      [order](Tensor base) { return ops::Transpose(base, order); },
      [back](Tensor, Tensor part) { return ops::Transpose(part, back); });
}

Value SlicedView(Call& c, std::string_view name, int axis, const Dim& start,
                 const Dim& size, int64_t step) {
  if (!c.ok()) return {};
  Cell& cell = *c.value(name).cell;
  Shape strides = c.machine().StridesOf(cell);
  strides[static_cast<size_t>(axis)] =
      strides[static_cast<size_t>(axis)] * Dim(step);
  return c.machine().NewView(
      cell, std::move(strides),
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
  Cell& cell = *c.value(name).cell;
  Shape strides = c.machine().StridesOf(cell);
  strides.erase(strides.begin() + axis);
  return c.machine().NewView(
      cell, std::move(strides),
      [=](Tensor base) {
        return ops::Squeeze(ops::SliceAxis(base, axis, index, Dim(1)), {axis});
      },
      [=](Tensor base, Tensor part) {
        return WithSlice(base, ops::Unsqueeze(part, {axis}), axis, index,
                         Dim(1), 1);
      });
}

Value SelectedViewByData(Call& c, std::string_view name, int axis,
                         const Tensor& index) {
  if (!c.ok()) return {};
  Cell& cell = *c.value(name).cell;
  Shape strides = c.machine().StridesOf(cell);
  strides.erase(strides.begin() + axis);
  Machine* machine = &c.machine();
  return c.machine().NewView(
      cell, std::move(strides),
      [=](Tensor base) {
        return ops::Gather(base, machine->Inside(index), axis);
      },
      [=](Tensor base, Tensor part) {
        const Tensor place = ops::AlongAxis(
            IotaVector(base.builder(), base.dim(axis), DType::kI64), axis,
            base.rank());
        return ops::Select(ops::Equal(place, machine->Inside(index)),
                           ops::Unsqueeze(part, {axis}), base);
      });
}

Value ExpandedView(Call& c, std::string_view name, const Shape& shape) {
  return ExpandedViewOf(c.machine(), c.value(name), shape);
}

Value ExpandedViewOf(Machine& machine, const Value& value, const Shape& shape) {
  const Tensor x = machine.ToTensor(value);
  if (!machine.ok()) return {};
  if (!value.is_tensor()) return machine.NewTensor(ops::Broadcast(x, shape));
  if (x.shape() == shape) return AliasOf(machine, value);
  Cell& cell = *value.cell;
  // Expanding repeats elements without copying them: repeated elements have the
  // same address, so the stride is 0.
  Shape strides = machine.StridesOf(cell);
  strides.insert(strides.begin(), shape.size() - strides.size(), Dim(0));
  const size_t added = shape.size() - x.shape().size();
  for (size_t i = added; i < shape.size(); ++i)
    if (x.shape()[i - added] != shape[i]) strides[i] = Dim(0);
  return machine.NewView(
      cell, std::move(strides),
      [shape](Tensor base) { return ops::Broadcast(base, shape); }, nullptr);
}

Tensor StridedPart::Read(const Tensor& vector) const {
  if (IsWhole(vector.dim(0))) return ops::Reshape(vector, size);
  graph::GraphBuilder& builder = vector.builder();
  Tensor place = ops::DimScalar(builder, offset);
  const auto rank = static_cast<int>(size.size());
  for (int i = 0; i < rank; ++i) {
    const auto at = static_cast<size_t>(i);
    place = place + ops::AlongAxis(IotaVector(builder, size[at], DType::kI64) *
                                       ops::DimScalar(builder, strides[at]),
                                   i, rank);
  }
  return ops::Gather(vector, place, 0);
}

bool StridedPart::IsWhole(const Dim& count) const {
  if (offset != Dim(0) || graph::ElementCount(size) != count) return false;
  const Shape expected = RowMajorStrides(size);
  for (size_t i = 0; i < size.size(); ++i)
    if (size[i] != Dim(1) && strides[i] != expected[i]) return false;
  return true;
}

namespace {

// Returns the axes of a part that have more than one element, in descending
// order of their strides.
std::vector<size_t> AxesByStride(const StridedPart& part) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < part.size.size(); ++i)
    if (part.size[i] != Dim(1)) axes.push_back(i);
  std::ranges::sort(axes, [&](size_t a, size_t b) {
    return part.strides[a].constant() > part.strides[b].constant();
  });
  return axes;
}

}  // namespace

bool StridedPart::CanWrite() const {
  if (!graph::IsConstant(size) || !graph::IsConstant(strides)) return false;
  // `reach`: number of consecutive elements that the axes with smaller strides
  // span. Elements do not overlap if each stride is at least that.
  int64_t reach = 1;
  std::vector<size_t> axes = AxesByStride(*this);
  std::ranges::reverse(axes);
  for (const size_t axis : axes) {
    const int64_t stride = strides[axis].constant();
    const int64_t count = size[axis].constant();
    int64_t distance = 0;
    if (stride < reach || __builtin_mul_overflow(stride, count, &distance))
      return false;
    reach = distance - stride + reach;
  }
  return true;
}

Tensor StridedPart::Write(const Tensor& vector, const Tensor& part) const {
  if (IsWhole(vector.dim(0))) return ops::Reshape(part, vector.shape());
  graph::GraphBuilder& builder = vector.builder();
  const Shape row_major = RowMajorStrides(size);
  for (const Dim& one : size)
    if (one == Dim(0)) return vector;
  // For each position of the vector, `index` becomes its row-major index in the
  // part, and `rest` is 0 if the part contains the position.
  Tensor rest = IotaVector(builder, vector.dim(0), DType::kI64) -
                ops::DimScalar(builder, offset);
  Tensor index = rest * 0.0;
  for (const size_t axis : AxesByStride(*this)) {
    const auto stride = static_cast<double>(strides[axis].constant());
    const Tensor number =
        ops::Binary(Opcode::kFloorDivide, rest, rest.Like(stride));
    const Tensor inside =
        ops::Minimum(ops::Maximum(number, 0),
                     static_cast<double>(size[axis].constant() - 1));
    rest = rest - inside * stride;
    index = index + inside * static_cast<double>(row_major[axis].constant());
  }
  const Tensor flat = ops::Reshape(part, {graph::ElementCount(size)});
  return ops::Select(ops::Equal(rest, 0), ops::Gather(flat, index, 0), vector);
}

Value StridedViewOf(Machine& machine, Cell& base, const StridedPart& part) {
  std::function<Tensor(Tensor, Tensor)> write;
  if (part.CanWrite()) {
    write = [part](Tensor x, Tensor written) {
      const Tensor flat = ops::Reshape(x, {graph::ElementCount(x.shape())});
      return ops::Reshape(part.Write(flat, written), x.shape());
    };
  }
  return machine.NewView(
      base, part.strides,
      [part](Tensor x) {
        return part.Read(ops::Reshape(x, {graph::ElementCount(x.shape())}));
      },
      std::move(write));
}

}  // namespace ember::torchscript
