// Imports operators that return parts of a tensor as views. A write to a view
// changes its base (machine.h).
#include <algorithm>

#include "base/rounding.h"
#include "frontends/ops/slice_bounds.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

// Imports slice: a view of [start, end) of an axis, with Python's rules: bounds
// outside of the axis are clamped.
Value SliceView(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  const int64_t step = c.integer("step");
  if (!c.ok()) return {};
  if (step <= 0) {
    c.FailInvalid("step: expected at least 1, found " + std::to_string(step));
    return {};
  }
  const Dim extent = x.dim(axis);
  const Dim start = c.has("start") ? c.dim("start") : Dim(0);
  const Dim end = c.has("end") ? c.dim("end") : extent;
  if (!c.ok()) return {};
  const ops::SliceRange range = ops::ForwardSlice(start, end, step, extent);
  return SlicedView(c, "self", axis, range.start, range.size, step);
}
Value Narrow(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  Dim start = c.dim("start");
  if (!c.ok()) return {};
  if (start.is_constant() && start.constant() < 0) start = start + x.dim(axis);
  return SlicedView(c, "self", axis, start, c.dim("length"), 1);
}
Value Select(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  const Value& index = c.value("index");
  if (!c.ok()) return {};
  if (index.is_dynamic() || index.is_tensor()) {
    const Tensor at = ops::NormalizeIndices(
        index.is_tensor() ? ops::Reshape(c.Indices("index"), {})
                          : c.machine().ToScalar(index),
        x.dim(axis));
    return SelectedViewByData(c, "self", axis, at);
  }
  Dim at = c.dim("index");
  if (at.is_constant() && at.constant() < 0) at = at + x.dim(axis);
  if (at.is_constant() && x.dim(axis).is_constant() &&
      (at.constant() < 0 || at.constant() >= x.dim(axis).constant())) {
    c.FailInvalid("index: expected one of " + x.dim(axis).ToString() +
                  " slices, found " + at.ToString());
    return {};
  }
  return SelectedView(c, "self", axis, at);
}
Value Unbind(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return {};
  if (!x.dim(axis).is_constant() || x.dim(axis).constant() > 100'000) {
    c.FailUnsupported(
        "expected an axis whose extent is known to take apart, "
        "found " +
        x.dim(axis).ToString());
    return {};
  }
  std::vector<Value> parts;
  for (int64_t i = 0; i < x.dim(axis).constant(); ++i)
    parts.push_back(SelectedView(c, "self", axis, Dim(i)));
  return c.machine().NewList(std::move(parts));
}

// Returns a list of views: consecutive parts of an axis of `self`, whose
// extents are `sizes`.
Value SplitInto(Call& c, int axis, const Shape& sizes) {
  std::vector<Value> parts;
  Dim start(0);
  for (const Dim& size : sizes) {
    parts.push_back(SlicedView(c, "self", axis, start, size, 1));
    start = start + size;
  }
  return c.machine().NewList(std::move(parts));
}
std::optional<int64_t> ExtentOf(Call& c, const Tensor& x, int axis) {
  const std::optional<int64_t> extent = x.dim(axis).AsConstant();
  if (!extent) {
    c.FailUnsupported(
        "expected an axis whose extent is known to split, found " +
        x.dim(axis).ToString());
  }
  return extent;
}
Value SplitBySize(Call& c, int64_t size, int axis, const Tensor& x) {
  const std::optional<int64_t> extent = ExtentOf(c, x, axis);
  if (!extent || !c.ok()) return {};
  if (size <= 0 || *extent / size > 100'000) {
    c.FailInvalid("expected parts of at least one element, and not so many");
    return {};
  }
  Shape sizes;
  for (int64_t at = 0; at < *extent || (at == 0 && *extent == 0); at += size)
    sizes.emplace_back(std::min(size, *extent - at));
  return SplitInto(c, axis, sizes);
}
Value Split(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  if (c.value("split_size").is_sequence())
    return SplitInto(c, axis, c.dims("split_size"));
  const Dim size = c.dim("split_size");
  // An open extent can be split if the size is a fraction of it, such as half
  // of it, so that the number of parts is known.
  if (c.ok() && !x.dim(axis).is_constant()) {
    const std::optional<Dim> count =
        ops::DivideElementCounts({x.dim(axis)}, {size});
    if (count && count->is_constant() && count->constant() > 0 &&
        count->constant() < 1000) {
      return SplitInto(c, axis,
                       Shape(static_cast<size_t>(count->constant()), size));
    }
  }
  return SplitBySize(c, c.integer("split_size"), axis, x);
}
Value SplitWithSizes(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  return SplitInto(c, c.axis("dim", x.rank()), c.dims("split_sizes"));
}
Value Chunk(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  const int64_t count = c.integer("chunks");
  if (!c.ok()) return {};
  if (count <= 0 || count > 100'000) {
    c.FailInvalid("chunks: expected at least 1, found " +
                  std::to_string(count));
    return {};
  }
  if (!x.dim(axis).is_constant()) {
    // An open extent can be split into `count` parts only if it is known to be
    // a multiple of `count`, so that the parts are equal.
    const Dim size = FloorDivide(x.dim(axis), Dim(count));
    if (size * Dim(count) == x.dim(axis))
      return SplitInto(c, axis, Shape(static_cast<size_t>(count), size));
  }
  const std::optional<int64_t> extent = ExtentOf(c, x, axis);
  if (!extent) return {};
  return SplitBySize(c, std::max<int64_t>(DivideRoundingUp(*extent, count), 1),
                     axis, x);
}
Value TensorSplit(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  const int64_t count = c.integer("sections");
  const std::optional<int64_t> extent = ExtentOf(c, x, axis);
  if (!extent || !c.ok()) return {};
  if (count <= 0 || count > 100'000) {
    c.FailInvalid("sections: expected at least 1");
    return {};
  }
  Shape sizes;
  for (int64_t i = 0; i < count; ++i)
    sizes.emplace_back(*extent / count + (i < *extent % count ? 1 : 0));
  return SplitInto(c, axis, sizes);
}

// Returns a list of views: an axis of `self` is split at the given indices.
// Indices beyond the ends of the axis are clamped to it.
Value SplitAt(Call& c, int axis, const Shape& places) {
  const Dim extent = c.tensor("self").dim(axis);
  std::vector<Value> parts;
  Dim start(0);
  for (size_t i = 0; i <= places.size() && c.ok(); ++i) {
    Dim end = i < places.size() ? places[i] : extent;
    if (!ops::IsNonNegative(end) && end.is_constant()) end = extent + end;
    end = SmallerOf(LargerOf(end, Dim(0)), extent);
    parts.push_back(
        SlicedView(c, "self", axis, start, LargerOf(end - start, Dim(0)), 1));
    start = end;
  }
  return c.machine().NewList(std::move(parts));
}
Value TensorSplitAt(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  return SplitAt(c, c.axis("dim", x.rank()), c.dims("indices"));
}
// Imports tensor_split with a tensor as argument: a tensor without dims is the
// number of parts, a vector the indices at which to split.
Value TensorSplitBy(Call& c) {
  const Tensor places = c.Indices("tensor_indices_or_sections");
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1) ||
      !c.CheckRank("tensor_indices_or_sections", places, 0, 1))
    return {};
  if (places.rank() == 0)
    return Redirect(c, "aten::tensor_split",
                    {{"sections", c.value("tensor_indices_or_sections")}});
  const auto known = c.builder().IntegerContents(places.value());
  if (known) return SplitAt(c, c.axis("dim", x.rank()), *known);
  c.FailUnsupported(
      "tensor_indices_or_sections: expected places that are known when "
      "importing");
  return {};
}
// Imports hsplit, vsplit and dsplit, which split along a fixed axis. `by` is a
// list of indices at which to split, or the number of parts.
Value SplitAlong(Call& c, int axis) {
  const Value& by = c.value("by");
  const bool is_list = by.is_sequence();
  return CallRow(c, "aten::tensor_split",
                 {{"self", c.value("self")},
                  {is_list ? "indices" : "sections", by},
                  {"dim", Value::Int(Dim(axis))}});
}
Value SplitColumns(Call& c) {
  return SplitAlong(c, c.tensor("self").rank() == 1 ? 0 : 1);
}
Value SplitRows(Call& c) { return SplitAlong(c, 0); }
Value SplitDepth(Call& c) { return SplitAlong(c, 2); }

constexpr OperatorRow kRows[] = {
    {"slice(Tensor self, int dim=0, int? start=None, int? end=None, "
     "int step=1)",
     SliceView},
    {"narrow(Tensor self, int dim, int start, int length)", Narrow},
    {"select(Tensor self, int dim, int index)", Select},
    {"unbind(Tensor self, int dim=0)", Unbind},
    {"split(Tensor self, int[] split_size, int dim=0)", Split},
    {"split_with_sizes(Tensor self, int[] split_sizes, int dim=0)",
     SplitWithSizes},
    {"chunk(Tensor self, int chunks, int dim=0)", Chunk},
    {"tensor_split(Tensor self, Number sections, int dim=0)", TensorSplit},
    {"tensor_split(Tensor self, int[] indices, int dim=0)", TensorSplitAt},
    {"tensor_split(Tensor self, Tensor tensor_indices_or_sections, "
     "int dim=0)",
     TensorSplitBy},
    {"hsplit(Tensor self, int[] by)", SplitColumns},
    {"vsplit(Tensor self, int[] by)", SplitRows},
    {"dsplit(Tensor self, int[] by)", SplitDepth},
};

}  // namespace

std::span<const OperatorRow> PartRows() { return kRows; }

}  // namespace ember::torchscript
