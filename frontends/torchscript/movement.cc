// Imports operators that change shapes or return views. A write to a view
// changes its base (machine.h).
#include <algorithm>
#include <numeric>

#include "compiler/graph/builder/unit_dims.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

// Imports operators that have no effect on results, such as detach: returns the
// tensor itself.
Value Same(Call& c) { return c.value("self"); }
Value Alias(Call& c) { return AliasOf(c.machine(), c.value("self")); }
Tensor Copy(Call& c) { return c.tensor("self"); }
// True if the argument memory_format is one of PyTorch's two formats with
// channels last, for images or for volumes.
bool IsChannelsLast(Call& c) {
  const Value& format = c.value("memory_format");
  if (!format.is_known_number()) return false;
  return format.known_number() == 2 || format.known_number() == 3;
}
// Returns the tensor itself if it lies in memory as the call requests, else a
// copy.
Value Contiguous(Call& c) {
  const Value& self = c.value("self");
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  if (c.machine().IsRowMajor(*self.cell) && !IsChannelsLast(c)) return self;
  return c.machine().NewTensor(x);
}
Value IsContiguous(Call& c) {
  return Value::Bool(c.machine().IsRowMajor(*c.value("self").cell) &&
                     !IsChannelsLast(c));
}
Value StrideOf(Call& c) {
  std::vector<Value> strides;
  for (const Dim& stride : c.machine().StridesOf(*c.value("self").cell))
    strides.push_back(Value::Int(stride));
  return c.machine().NewList(std::move(strides));
}
Value StrideOfDim(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  const int axis = c.axis("dim", x.rank());
  if (!c.ok()) return {};
  const Shape strides = c.machine().StridesOf(*c.value("self").cell);
  return Value::Int(strides[static_cast<size_t>(axis)]);
}
// Imports as_strided. The strides refer to the elements in memory, so the
// tensor must be row-major and not a part of another one.
Value AsStrided(Call& c) {
  const Tensor x = c.tensor("self");
  StridedPart part{c.dims("size"), c.dims("stride"), Dim(0)};
  if (c.has("storage_offset")) part.offset = c.dim("storage_offset");
  if (!c.ok()) return {};
  Cell& cell = *c.value("self").cell;
  // A row-major view with all elements of its root has them in the same order
  // in memory as the root.
  const bool is_whole =
      c.machine().IsRowMajor(cell) &&
      graph::ElementCount(x.shape()) ==
          graph::ElementCount(c.machine().Read(*cell.root).shape());
  if (!c.ok()) return {};
  if (!is_whole || cell.root->is_complex != cell.is_complex ||
      part.size.size() != part.strides.size()) {
    c.FailUnsupported(
        "expected a tensor that is no view of a part of another one, and as "
        "many strides as sizes");
    return {};
  }
  if (!CheckNewRank(c, part.size.size())) return {};
  return StridedViewOf(c.machine(), cell, part);
}

// Reads the shape that a call requests in the argument `name`. A dim of -1 is
// replaced by the extent that the number of elements of x leaves for it.
Shape ResolvedShape(Call& c, const Tensor& x, std::string_view name) {
  Shape shape = c.dims(name);
  std::optional<size_t> open;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != Dim(-1)) continue;
    if (open) {
      c.FailInvalid("expected one dim of -1, found two");
      return x.shape();
    }
    open = i;
  }
  if (!open || !c.ok()) return shape;
  Shape others = shape;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(*open));
  const std::optional<Dim> rest = ops::DivideElementCounts(x.shape(), others);
  if (!rest) {
    c.FailInvalid("expected dims that divide the elements of " +
                  graph::ShapeToString(x.shape()) + ", found " +
                  graph::ShapeToString(others));
    return x.shape();
  }
  shape[*open] = *rest;
  return shape;
}
Value ViewAs(Call& c, const Shape& shape) {
  if (!CheckNewRank(c, shape.size())) return {};
  return ReshapedView(c, "self", shape);
}
Value ReshapeAs(Call& c, const Shape& shape) {
  if (!CheckNewRank(c, shape.size())) return {};
  return ReshapedViewOrCopy(c, "self", shape);
}
Value View(Call& c) {
  return ViewAs(c, ResolvedShape(c, c.tensor("self"), "size"));
}
// Imports view with a dtype: the bytes of the tensor are read as elements of
// another type.
Value ViewAsType(Call& c) {
  const Tensor x = c.tensor("self");
  const DType own = x.dtype();
  const DType type = c.dtype("dtype", own);
  if (!c.ok()) return {};
  if (type == own) return ViewAs(c, x.shape());
  if (DTypeByteSize(type) != DTypeByteSize(own) || type == DType::kBool ||
      own == DType::kBool) {
    c.FailUnsupported("dtype: expected a type with the width of " +
                      std::string(DTypeName(own)) +
                      " that is not bool, found " +
                      std::string(DTypeName(type)));
    return {};
  }
  Cell& cell = *c.value("self").cell;
  const Shape strides = c.machine().StridesOf(cell);
  if (!c.ok()) return {};
  return c.machine().NewView(
      cell, strides,
      [type](Tensor base) {
        return ops::Apply("bitcast", {base}, {{"dtype", type}});
      },
      [own](Tensor, Tensor part) {
        return ops::Apply("bitcast", {part}, {{"dtype", own}});
      });
}
Value ReshapeTo(Call& c) {
  return ReshapeAs(c, ResolvedShape(c, c.tensor("self"), "shape"));
}
Value ReshapeLike(Call& c) { return ReshapeAs(c, c.tensor("other").shape()); }
Value ViewLike(Call& c) { return ViewAs(c, c.tensor("other").shape()); }
Value Flatten(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  if (x.rank() == 0) return ViewAs(c, {Dim(1)});
  const int first = c.axis("start_dim", x.rank());
  const int last = c.axis("end_dim", x.rank());
  if (!c.ok()) return {};
  if (first > last) {
    c.FailInvalid("expected start_dim before end_dim");
    return {};
  }
  Shape shape(x.shape().begin(), x.shape().begin() + first);
  Dim merged(1);
  for (int i = first; i <= last; ++i) merged = merged * x.dim(i);
  shape.push_back(merged);
  shape.insert(shape.end(), x.shape().begin() + last + 1, x.shape().end());
  return ReshapeAs(c, shape);
}
Value Unflatten(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  Shape parts = c.dims("sizes");
  if (!c.CheckRank("self", x, 1)) return {};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] != Dim(-1)) continue;
    Shape others = parts;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    parts[i] = ops::DivideElementCounts({x.dim(axis)}, others).value_or(Dim(1));
  }
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), parts.begin(), parts.end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return ViewAs(c, shape);
}
Value SqueezeAll(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  Shape shape;
  for (const Dim& dim : x.shape()) {
    graph::TakeNotUnit(x.builder(), dim);
    if (dim != Dim(1)) shape.push_back(dim);
  }
  return ViewAs(c, shape);
}
Value SqueezeAxes(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || x.rank() == 0) return Alias(c);
  std::vector<int64_t> axes = c.integers("dim");
  for (int64_t& axis : axes) axis = NormalAxis(c.machine(), axis, x.rank());
  Shape shape;
  for (int i = 0; i < x.rank(); ++i) {
    const bool is_named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (is_named) graph::TakeNotUnit(x.builder(), x.dim(i));
    if (!is_named || x.dim(i) != Dim(1)) shape.push_back(x.dim(i));
  }
  return ViewAs(c, shape);
}
Value Unsqueeze(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank() + 1);
  if (!c.ok()) return {};
  Shape shape = x.shape();
  shape.insert(shape.begin() + axis, Dim(1));
  return ViewAs(c, shape);
}
// Imports atleast_1d and atleast_2d: adds dims of 1 in front until x has `rank`
// dims.
Value AtLeast(Call& c, size_t rank) {
  Shape shape = c.tensor("self").shape();
  while (shape.size() < rank) shape.insert(shape.begin(), Dim(1));
  return ViewAs(c, shape);
}
Value AtLeast1(Call& c) { return AtLeast(c, 1); }
Value AtLeast2(Call& c) { return AtLeast(c, 2); }
// Imports atleast_3d. A matrix gets a new last dim; a vector gets a new dim
// before and one after its own.
Value AtLeast3(Call& c) {
  Shape shape = c.tensor("self").shape();
  if (shape.size() < 2) shape.insert(shape.begin(), Dim(1));
  while (shape.size() < 3) shape.push_back(Dim(1));
  return ViewAs(c, shape);
}

Value Permute(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> order = c.integers("dims");
  if (!c.ok()) return {};
  std::vector<bool> seen(static_cast<size_t>(x.rank()));
  bool is_permutation = order.size() == seen.size();
  for (int64_t& axis : order) {
    if (!is_permutation) break;
    axis = NormalAxis(c.machine(), axis, x.rank());
    if (!c.ok()) return {};
    is_permutation = !seen[static_cast<size_t>(axis)];
    seen[static_cast<size_t>(axis)] = true;
  }
  if (!is_permutation) {
    c.FailInvalid("dims: expected each of the " + std::to_string(x.rank()) +
                  " axes once");
    return {};
  }
  return PermutedView(c, "self", order);
}
Value SwapAxes(Call& c) {
  const Tensor x = c.tensor("self");
  const int a = c.axis("dim0", x.rank());
  const int b = c.axis("dim1", x.rank());
  if (!c.ok() || x.rank() == 0) return Alias(c);
  std::vector<int64_t> order = AllAxes(x);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return PermutedView(c, "self", order);
}
// Imports t, which transposes matrices and returns vectors unchanged.
Value TransposeMatrix(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 0, 2)) return {};
  if (x.rank() < 2) return Alias(c);
  return PermutedView(c, "self", {1, 0});
}
Value TransposeLast(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 2)) return {};
  std::vector<int64_t> order = AllAxes(x);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return PermutedView(c, "self", order);
}
Value ReverseAxes(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> order(static_cast<size_t>(x.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  return PermutedView(c, "self", order);
}
Value MoveAxes(Call& c) {
  const Tensor x = c.tensor("self");
  std::vector<int64_t> from = c.integers("source");
  std::vector<int64_t> to = c.integers("destination");
  if (!c.ok()) return {};
  if (from.size() != to.size()) {
    c.FailInvalid("expected as many places as axes to move");
    return {};
  }
  std::vector<int64_t> order(static_cast<size_t>(x.rank()), -1);
  std::vector<bool> moved(order.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const int a = NormalAxis(c.machine(), from[i], x.rank());
    const int b = NormalAxis(c.machine(), to[i], x.rank());
    if (!c.ok()) return {};
    order[static_cast<size_t>(b)] = a;
    moved[static_cast<size_t>(a)] = true;
  }
  size_t next = 0;
  for (int64_t& axis : order) {
    if (axis >= 0) continue;
    while (next < moved.size() && moved[next]) ++next;
    axis = static_cast<int64_t>(next++);
    if (next > moved.size()) {
      c.FailInvalid("expected axes to move that differ");
      return {};
    }
  }
  return PermutedView(c, "self", order);
}

Value Expand(Call& c) {
  const Tensor x = c.tensor("self");
  Shape shape = c.dims("size");
  if (!c.ok() || !CheckNewRank(c, shape.size())) return {};
  if (shape.size() < x.shape().size()) {
    c.FailInvalid("size: expected at least " + std::to_string(x.rank()) +
                  " dims, found " + std::to_string(shape.size()));
    return {};
  }
  const size_t extra = shape.size() - x.shape().size();
  for (size_t i = extra; i < shape.size(); ++i)
    if (shape[i] == Dim(-1)) shape[i] = x.shape()[i - extra];
  return ExpandedView(c, "self", shape);
}
Value ExpandLike(Call& c) {
  return ExpandedView(c, "self", c.tensor("other").shape());
}
Value BroadcastTensors(Call& c) {
  const std::vector<Tensor> tensors = c.tensors("tensors");
  if (!c.ok()) return {};
  Shape shape;
  for (const Tensor& tensor : tensors) {
    const StatusOr<Shape> both = graph::BroadcastShapes(shape, tensor.shape());
    if (!both.ok()) {
      c.FailInvalid(std::string(both.status().message()));
      return {};
    }
    shape = *both;
  }
  std::vector<Value> results;
  for (const Value& tensor : c.value("tensors").list->items)
    results.push_back(ExpandedViewOf(c.machine(), tensor, shape));
  return c.machine().NewList(std::move(results));
}

constexpr OperatorRow kRows[] = {
    {"detach(Tensor self)", Alias},
    {"detach_(Tensor self)", Same},
    {"prim::data(Tensor self)", Alias},
    {"alias(Tensor self)", Alias},
    {"contiguous(Tensor self, *, MemoryFormat? memory_format=None)",
     Contiguous},
    {"is_contiguous(Tensor self, MemoryFormat? memory_format=None)",
     IsContiguous},
    {"stride(Tensor self)", StrideOf},
    {"stride(Tensor self, int dim)", StrideOfDim},
    {"sym_stride(Tensor self, int dim)", StrideOfDim},
    {"as_strided(Tensor self, int[] size, int[] stride, "
     "int? storage_offset=None)",
     AsStrided},
    {"cpu(Tensor self)", Same},
    {"cuda(Tensor self)", Same},
    {"requires_grad_(Tensor self, bool requires_grad=True)", Same},
    {"resolve_conj(Tensor self)", Same},
    {"conj(Tensor self)", Same},
    {"_conj(Tensor self)", Same},
    {"conj_physical(Tensor self)", Same},
    {"real(Tensor self)", Same},
    {"resolve_neg(Tensor self)", Same},
    {"lift_fresh(Tensor self)", Same},
    {"positive(Tensor self)", Same},
    {"clone(Tensor self, *, MemoryFormat? memory_format=None)", Copy},
    {"lift_fresh_copy(Tensor self)", Copy},
    // view(7) means a type, not a shape: PyTorch accepts the sizes of view only
    // as a list. So this row comes first.
    {"view(Tensor self, ScalarType dtype)", ViewAsType},
    {"view(Tensor self, int[] size)", View},
    {"_unsafe_view(Tensor self, int[] size)", View},
    {"reshape(Tensor self, int[] shape)", ReshapeTo},
    {"_reshape_alias(Tensor self, int[] size, int[] stride)", View},
    {"view_as(Tensor self, Tensor other)", ViewLike},
    {"reshape_as(Tensor self, Tensor other)", ReshapeLike},
    {"flatten(Tensor self, int start_dim=0, int end_dim=-1)", Flatten},
    {"ravel(Tensor self, int start_dim=0, int end_dim=-1)", Flatten},
    {"unflatten(Tensor self, int dim, int[] sizes)", Unflatten},
    {"squeeze(Tensor self)", SqueezeAll},
    {"squeeze(Tensor self, int[] dim)", SqueezeAxes},
    {"unsqueeze(Tensor self, int dim)", Unsqueeze},
    {"atleast_1d(Tensor self)", AtLeast1},
    {"atleast_2d(Tensor self)", AtLeast2},
    {"atleast_3d(Tensor self)", AtLeast3},
    {"permute(Tensor self, int[] dims)", Permute},
    {"transpose(Tensor self, int dim0, int dim1)", SwapAxes},
    {"swapaxes(Tensor self, int dim0, int dim1)", SwapAxes},
    {"swapdims(Tensor self, int dim0, int dim1)", SwapAxes},
    {"t(Tensor self)", TransposeMatrix},
    {"mT(Tensor self)", TransposeLast},
    {"adjoint(Tensor self)", TransposeLast},
    {"mH(Tensor self)", TransposeLast},
    {"matrix_H(Tensor self)", TransposeLast},
    {"numpy_T(Tensor self)", ReverseAxes},
    {"movedim(Tensor self, int[] source, int[] destination)", MoveAxes},
    {"moveaxis(Tensor self, int[] source, int[] destination)", MoveAxes},
    {"expand(Tensor self, int[] size, *, bool implicit=False)", Expand},
    {"broadcast_to(Tensor self, int[] size)", Expand},
    {"expand_as(Tensor self, Tensor other)", ExpandLike},
    {"broadcast_tensors(Tensor[] tensors)", BroadcastTensors},
};

}  // namespace

std::span<const OperatorRow> MovementRows() { return kRows; }

}  // namespace ember::torchscript
