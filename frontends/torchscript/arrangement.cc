// Imports operators that arrange elements anew: repetition, concatenation,
// rotation, combinations and windows.
#include <algorithm>
#include <functional>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

// Repeats x along each axis i repeats[i] times. If `repeats` has more entries
// than x has axes, axes of 1 are added in front of x.
Tensor RepeatBy(Call& c, const Tensor& x, const Shape& repeats) {
  if (!c.ok() || !CheckNewRank(c, repeats.size() * 2)) return x;
  Shape dims = x.shape();
  dims.insert(dims.begin(), repeats.size() - dims.size(), Dim(1));
  Shape apart;
  Shape repeated;
  Shape merged;
  for (size_t i = 0; i < dims.size(); ++i) {
    apart.insert(apart.end(), {Dim(1), dims[i]});
    repeated.insert(repeated.end(), {repeats[i], dims[i]});
    merged.push_back(repeats[i] * dims[i]);
  }
  return ops::Reshape(ops::Broadcast(ops::Reshape(x, apart), repeated), merged);
}
Tensor Repeat(Call& c) {
  const Tensor x = c.tensor("self");
  const Shape repeats = c.dims("repeats");
  if (c.ok() && repeats.size() < x.shape().size()) {
    c.FailInvalid("repeats: expected at least " + std::to_string(x.rank()) +
                  " numbers, found " + std::to_string(repeats.size()));
  }
  return RepeatBy(c, x, repeats);
}
Tensor Tile(Call& c) {
  const Tensor x = c.tensor("self");
  Shape repeats = c.dims("dims");
  while (c.ok() && repeats.size() < x.shape().size())
    repeats.insert(repeats.begin(), Dim(1));
  return RepeatBy(c, x, repeats);
}
Tensor RepeatInterleave(Call& c) {
  Tensor x = c.tensor("self");
  const Dim repeats = c.dim("repeats");
  if (!c.ok()) return x;
  if (!c.has("dim")) {
    return ops::RepeatEach(ops::Reshape(x, {graph::ElementCount(x.shape())}), 0,
                           repeats);
  }
  return ops::RepeatEach(x, c.axis("dim", x.rank()), repeats);
}

Tensor Cat(Call& c) {
  std::vector<Tensor> parts;
  // Vectors of length 0 are left out: PyTorch allows them among tensors of any
  // rank.
  for (const Tensor& part : c.tensors("tensors"))
    if (part.rank() != 1 || part.dim(0) != Dim(0)) parts.push_back(part);
  if (!c.ok()) return {};
  if (parts.empty()) {
    const std::vector<Tensor> all = c.tensors("tensors");
    if (!all.empty()) return all[0];
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  parts = InOneType(c, std::move(parts));
  if (!c.CheckRank("tensors", parts[0], 1)) return parts[0];
  return Concat(parts, c.axis("dim", parts[0].rank()));
}
Tensor Stack(Call& c) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  const int rank = parts[0].rank();
  const int axis = c.axis("dim", rank + 1);
  for (Tensor& part : parts) {
    if (part.rank() != rank) {
      c.FailInvalid("expected tensors of one rank to stack");
      return part;
    }
    part = ops::Unsqueeze(part, {axis});
  }
  return c.ok() ? Concat(parts, axis) : parts[0];
}
Tensor JoinFrom(Call& c, int axis, int rank) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  for (Tensor& part : parts)
    while (part.rank() < rank) part = ops::Unsqueeze(part, {0});
  return Concat(parts, std::min(axis, parts[0].rank() - 1));
}
Tensor Hstack(Call& c) { return JoinFrom(c, 1, 1); }
Tensor Vstack(Call& c) { return JoinFrom(c, 0, 2); }

Tensor Flip(Call& c) {
  Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.integers("dims");
  for (const int64_t axis : axes) {
    if (!c.ok() || x.rank() == 0) return x;
    x = ops::Reverse(x, NormalAxis(c.machine(), axis, x.rank()));
  }
  return x;
}
// Moves elements by `shift` along an axis; elements that leave the axis at its
// end return at its front.
Tensor RollAxis(const Tensor& x, int axis, int64_t shift) {
  const Dim extent = x.dim(axis);
  if (extent == Dim(0)) return x;
  const Dim moved = Modulo(Dim(shift), extent);
  if (moved == Dim(0)) return x;
  return Concat({ops::SliceAxis(x, axis, extent - moved, moved),
                 ops::SliceAxis(x, axis, Dim(0), extent - moved)},
                axis);
}
Tensor Roll(Call& c) {
  Tensor x = c.tensor("self");
  const std::vector<int64_t> shifts = c.integers("shifts");
  std::vector<int64_t> axes;
  if (c.has("dims")) axes = c.integers("dims");
  if (!c.ok() || x.rank() == 0) return x;
  if (axes.empty() && shifts.size() == 1) {
    const Tensor flat = ops::Reshape(x, {graph::ElementCount(x.shape())});
    return ops::Reshape(RollAxis(flat, 0, shifts[0]), x.shape());
  }
  if (axes.size() != shifts.size()) {
    c.FailInvalid("expected as many shifts as dims");
    return x;
  }
  for (size_t i = 0; i < axes.size() && c.ok(); ++i)
    x = RollAxis(x, NormalAxis(c.machine(), axes[i], x.rank()), shifts[i]);
  return x;
}
Tensor Rot90(Call& c) {
  Tensor x = c.tensor("self");
  const std::vector<int64_t> dims = c.integers("dims", 2);
  const int64_t rotations = ((c.integer("k") % 4) + 4) % 4;
  if (!c.CheckRank("self", x, 2)) return x;
  const int a = NormalAxis(c.machine(), dims[0], x.rank());
  const int b = NormalAxis(c.machine(), dims[1], x.rank());
  if (!c.ok()) return x;
  std::vector<int64_t> swapped = AllAxes(x);
  std::swap(swapped[static_cast<size_t>(a)], swapped[static_cast<size_t>(b)]);
  if (rotations == 1) return ops::Transpose(ops::Reverse(x, b), swapped);
  if (rotations == 2) return ops::Reverse(ops::Reverse(x, a), b);
  if (rotations == 3) return ops::Reverse(ops::Transpose(x, swapped), b);
  return x;
}
// Imports kron: returns the products of all elements of one operand with all
// elements of the other, in blocks.
Tensor Kron(Call& c) {
  const DType type = ResultType(c, {"self", "other"});
  Tensor a = c.scalar("self", type);
  Tensor b = c.scalar("other", type);
  if (!c.ok()) return a;
  while (a.rank() < b.rank()) a = ops::Unsqueeze(a, {0});
  while (b.rank() < a.rank()) b = ops::Unsqueeze(b, {0});
  if (!CheckNewRank(c, a.shape().size() * 2)) return a;
  std::vector<int64_t> of_a;
  std::vector<int64_t> of_b;
  Shape merged;
  for (int i = 0; i < a.rank(); ++i) {
    of_a.push_back(2 * i + 1);
    of_b.push_back(2 * i);
    merged.push_back(a.dim(i) * b.dim(i));
  }
  return ops::Reshape(Times(ops::Unsqueeze(a, of_a), ops::Unsqueeze(b, of_b)),
                      merged);
}
// Imports diff: the differences of neighbouring elements, n times.
Tensor Diff(Call& c) {
  Tensor x = c.tensor("self");
  const int64_t times = c.integer("n");
  if (!c.CheckRank("self", x, 1)) return x;
  const int axis = c.axis("dim", x.rank());
  // The result for n = 0 is x itself: the arguments prepend and append have no
  // effect.
  if (times == 0) return x;
  std::vector<Tensor> parts = {x};
  if (c.has("prepend")) parts.insert(parts.begin(), c.tensor("prepend"));
  if (c.has("append")) parts.push_back(c.tensor("append"));
  if (!c.ok()) return x;
  if (parts.size() > 1) x = Concat(InOneType(c, parts), axis);
  for (int64_t i = 0; i < times && c.ok(); ++i) {
    if (i == 1000) {
      c.FailUnsupported("n: expected at most 1000");
      return x;
    }
    const Dim size = LargerOf(x.dim(axis) - Dim(1), Dim(0));
    const Tensor next = ops::SliceAxis(x, axis, Dim(1), size);
    const Tensor last = ops::SliceAxis(x, axis, Dim(0), size);
    x = x.dtype() == DType::kBool ? ops::NotEqual(next, last) : next - last;
  }
  return x;
}
Tensor FlipAxis(Call& c, int axis, int rank) {
  const Tensor x = c.tensor("self");
  return c.CheckRank("self", x, rank) ? ops::Reverse(x, axis) : x;
}
Tensor FlipColumns(Call& c) { return FlipAxis(c, 1, 2); }
Tensor FlipRows(Call& c) { return FlipAxis(c, 0, 1); }
// Imports column_stack: joins tensors along the second axis, after vectors have
// become columns.
Tensor ColumnStack(Call& c) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  for (Tensor& part : parts)
    if (part.rank() < 2)
      part = ops::Reshape(part, {graph::ElementCount(part.shape()), Dim(1)});
  return Concat(parts, 1);
}
// Imports dstack: joins tensors along the third axis, after vectors and
// matrices have got axes of 1.
Tensor DepthStack(Call& c) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  for (Tensor& part : parts) {
    if (part.rank() < 2)
      part = ops::Reshape(part, {Dim(1), graph::ElementCount(part.shape())});
    if (part.rank() < 3) part = ops::Unsqueeze(part, {2});
  }
  return Concat(parts, 2);
}
// Imports cartesian_prod: the rows are all combinations of one element of each
// vector, [product of the lengths, vectors].
Tensor CartesianProduct(Call& c) {
  const std::vector<Tensor> vectors = InOneType(c, c.tensors("tensors"));
  if (!c.ok() || vectors.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  Shape all;
  for (const Tensor& vector : vectors) {
    if (!c.CheckRank("tensors", vector, 1, 1)) return vector;
    all.push_back(vector.dim(0));
  }
  if (vectors.size() == 1) return vectors[0];
  if (!CheckNewRank(c, all.size())) return vectors[0];
  std::vector<Tensor> columns;
  const auto rank = static_cast<int>(all.size());
  for (int i = 0; i < rank; ++i) {
    const Tensor line =
        ops::AlongAxis(vectors[static_cast<size_t>(i)], i, rank);
    columns.push_back(ops::Reshape(ops::Broadcast(line, all),
                                   {graph::ElementCount(all), Dim(1)}));
  }
  return Concat(columns, 1);
}
// Imports combinations: the rows are all choices of r elements of a vector, in
// the order of their indices.
Tensor Combinations(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t chosen = c.integer("r");
  const int64_t apart = c.flag("with_replacement") ? 0 : 1;
  if (!c.CheckRank("self", x, 1, 1)) return x;
  const std::optional<int64_t> count = x.dim(0).AsConstant();
  if (!count || chosen < 0 || chosen > 100) {
    c.FailUnsupported(
        "expected a vector whose length is known when importing, and 0 to 100 "
        "elements to choose");
    return x;
  }
  if (chosen == 0) return ops::SliceAxis(x, 0, Dim(0), Dim(0));
  // `row` has the indices of the current choice. The next choice in order
  // increases the last index that can be increased, and gives the indices after
  // it their smallest values.
  const auto size = static_cast<size_t>(chosen);
  std::vector<int64_t> row(size);
  for (size_t i = 0; i < size; ++i) row[i] = apart * static_cast<int64_t>(i);
  std::vector<int64_t> places;
  while (row.back() < *count) {
    places.insert(places.end(), row.begin(), row.end());
    if (places.size() > size_t{1} << 20) {
      c.FailUnsupported("expected at most 2^20 elements in the result");
      return x;
    }
    size_t at = size - 1;
    const auto last = [&](size_t i) {
      return *count - 1 - apart * static_cast<int64_t>(size - 1 - i);
    };
    while (at > 0 && row[at] == last(at)) --at;
    ++row[at];
    for (size_t i = at + 1; i < size; ++i) row[i] = row[i - 1] + apart;
  }
  const Dim rows(static_cast<int64_t>(places.size() / size));
  return ops::Reshape(
      ops::Gather(x, Tensor(&c.builder(), c.builder().Integers(places)), 0),
      {rows, Dim(chosen)});
}
// Calls the operator `name` for each tensor in the argument `tensors`, and
// returns the list of results.
Value ForEach(Call& c, std::string_view name) {
  std::vector<Value> results;
  for (const Value& item : c.value("tensors").list->items) {
    results.push_back(CallRow(c, name, {{"self", item}}));
    if (!c.ok()) return {};
  }
  return c.machine().NewList(std::move(results));
}
Value AtLeast1(Call& c) { return ForEach(c, "aten::atleast_1d"); }
Value AtLeast2(Call& c) { return ForEach(c, "aten::atleast_2d"); }
Value AtLeast3(Call& c) { return ForEach(c, "aten::atleast_3d"); }

// The windows of an axis that unfold returns: `size` consecutive elements each,
// which begin `step` elements apart.
struct Windows {
  int axis;
  int64_t size, step;
  Dim count;

  // Returns the order of axes that moves the axis after `axis`, which the
  // gather in Read adds for the elements of a window, to the end.
  std::vector<int64_t> Order(int rank) const {
    std::vector<int64_t> order;
    for (int i = 0; i <= rank; ++i)
      if (i != axis + 1) order.push_back(i);
    order.push_back(axis + 1);
    return order;
  }
  // Returns the windows of x: the axis has an entry per window, and the
  // elements of a window are a new last axis.
  Tensor Read(const Tensor& x) const {
    const Tensor starts = ops::AlongAxis(
        IotaVector(x.builder(), count, DType::kI64) * static_cast<double>(step),
        0, 2);
    const Tensor within =
        ops::AlongAxis(IotaVector(x.builder(), Dim(size), DType::kI64), 1, 2);
    return ops::Transpose(ops::Gather(x, starts + within, axis),
                          Order(x.rank()));
  }
  // Returns x with the elements in the windows replaced by those of `windows`.
  // It requires windows that do not overlap (size <= step).
  Tensor Write(const Tensor& x, const Tensor& windows) const {
    if (size == 0) return x;
    Shape merged = x.shape();
    merged[static_cast<size_t>(axis)] = count * Dim(size);
    const Tensor elements = ops::Reshape(
        ops::Transpose(windows, InverseOrder(Order(x.rank()))), merged);
    const Tensor place = IotaVector(x.builder(), x.dim(axis), DType::kI64);
    const Tensor number =
        ops::Minimum(ops::Binary(Opcode::kFloorDivide, place,
                                 place.Like(static_cast<double>(step))),
                     ops::DimScalar(x.builder(), count - Dim(1)));
    const Tensor within = place - number * static_cast<double>(step);
    const Tensor is_one = ops::Less(within, static_cast<double>(size));
    const Tensor index = number * static_cast<double>(size) +
                         ops::Minimum(within, static_cast<double>(size - 1));
    return ops::Select(ops::AlongAxis(is_one, axis, x.rank()),
                       ops::Gather(elements, index, axis), x);
  }
};
Value Unfold(Call& c) {
  const Tensor given = c.tensor("self");
  const bool has_axis = given.rank() > 0;
  const int axis = c.axis("dimension", given.rank());
  const Tensor x = WithAxis(given);
  const int64_t size = c.integer("size");
  const int64_t step = c.integer("step");
  if (!c.ok() || !CheckNewRank(c, x.shape().size() + 1)) return {};
  if (size < 0 || step <= 0) {
    c.FailInvalid("expected a size from 0 on and a step from 1 on");
    return {};
  }
  const Windows windows{
      axis, size, step,
      FloorDivide(x.dim(axis) - Dim(size), Dim(step)) + Dim(1)};
  Cell& cell = *c.value("self").cell;
  Shape strides = c.machine().StridesOf(cell);
  // A tensor without dims is treated as a vector of one element. Its only
  // window is the result.
  const Dim along = has_axis ? strides[static_cast<size_t>(axis)] : Dim(1);
  if (has_axis) strides[static_cast<size_t>(axis)] = along * Dim(step);
  strides.push_back(along);
  std::function<Tensor(Tensor, Tensor)> write;
  if (size <= step) {
    write = [windows, has_axis](Tensor base, Tensor part) {
      if (has_axis) return windows.Write(base, part);
      part = ops::Reshape(part, {Dim(1), Dim(windows.size)});
      return ops::Reshape(windows.Write(WithAxis(base), part), {});
    };
  }
  return c.machine().NewView(
      cell, std::move(strides),
      [windows, has_axis](Tensor base) {
        Tensor parts = windows.Read(WithAxis(base));
        return has_axis ? parts : ops::Reshape(parts, {Dim(windows.size)});
      },
      std::move(write));
}

constexpr OperatorRow kRows[] = {
    {"repeat(Tensor self, int[] repeats)", Repeat},
    {"tile(Tensor self, int[] dims)", Tile},
    {"repeat_interleave(Tensor self, Number repeats, int? dim=None, *, "
     "int? output_size=None)",
     RepeatInterleave},
    {"cat(Tensor[] tensors, int dim=0)", Cat},
    {"concat(Tensor[] tensors, int dim=0)", Cat},
    {"concatenate(Tensor[] tensors, int dim=0)", Cat},
    {"stack(Tensor[] tensors, int dim=0)", Stack},
    {"hstack(Tensor[] tensors)", Hstack},
    {"vstack(Tensor[] tensors)", Vstack},
    {"row_stack(Tensor[] tensors)", Vstack},
    {"dstack(Tensor[] tensors)", DepthStack},
    {"column_stack(Tensor[] tensors)", ColumnStack},
    {"cartesian_prod(Tensor[] tensors)", CartesianProduct},
    {"combinations(Tensor self, int r=2, bool with_replacement=False)",
     Combinations},
    {"atleast_1d(Tensor[] tensors)", AtLeast1},
    {"atleast_2d(Tensor[] tensors)", AtLeast2},
    {"atleast_3d(Tensor[] tensors)", AtLeast3},
    {"kron(Tensor self, Tensor other)", Kron},
    {"diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
     "Tensor? append=None)",
     Diff},
    {"fliplr(Tensor self)", FlipColumns},
    {"flipud(Tensor self)", FlipRows},
    {"flip(Tensor self, int[] dims)", Flip},
    {"roll(Tensor self, int[] shifts, int[]? dims=None)", Roll},
    {"rot90(Tensor self, int k, int[] dims)", Rot90},
    {"unfold(Tensor self, int dimension, int size, int step)", Unfold},
};

}  // namespace

std::span<const OperatorRow> ArrangementRows() { return kRows; }

}  // namespace ember::torchscript
