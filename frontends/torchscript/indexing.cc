// Imports operators that access elements by index: gathers, scatters, masks,
// embeddings.
#include <utility>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns the row-major positions of the elements that are not zero. Their
// number is only known at run time.
Tensor NonZeroPositions(Call& c, const Tensor& x) {
  const Tensor flat = ops::Reshape(x, {graph::ElementCount(x.shape())});
  const Dim count = c.builder().FreshSymbol();
  return Apply("non_zero", {flat}, {{"defines", Shape{count}}});
}
// Returns the positions of the elements that are not zero, as one index vector
// per axis; a tensor without dims has one axis.
std::vector<Tensor> NonZeroIndices(Call& c, const Tensor& given) {
  const Tensor x = WithAxis(given);
  const Tensor positions = NonZeroPositions(c, x);
  std::vector<Tensor> indices(static_cast<size_t>(x.rank()));
  Dim stride(1);
  for (int axis = x.rank(); axis-- > 0;) {
    Tensor index = positions;
    if (stride != Dim(1)) {
      index = ops::Binary(Opcode::kFloorDivide, index,
                          ops::DimScalar(c.builder(), stride));
    }
    if (axis > 0)
      index = ops::Modulo(index, ops::DimScalar(c.builder(), x.dim(axis)));
    indices[static_cast<size_t>(axis)] = index;
    stride = stride * x.dim(axis);
  }
  return indices;
}

// Checks that a mask has the dims of the axes of x from `first` on, and returns
// it with these dims. Open dims are compared at run time.
Tensor FittedMask(Call& c, const Tensor& x, size_t first, Tensor mask) {
  const Shape& dims = x.shape();
  bool fits = first + mask.shape().size() <= dims.size();
  for (int i = 0; fits && i < mask.rank(); ++i) {
    const Dim& extent = dims[first + static_cast<size_t>(i)];
    const Dim apart = mask.dim(i) - extent;
    fits = !apart.is_constant() || apart == Dim(0);
    if (fits) mask = ops::WithDim(mask, i, extent);
  }
  if (!fits && c.ok()) {
    c.FailInvalid(
        "indices: expected a mask with the dims that it selects from " +
        graph::ShapeToString(dims) + " from axis " + std::to_string(first) +
        " on, found " + graph::ShapeToString(mask.shape()));
  }
  return mask;
}
// Returns true where an index is in [0, extent). The result is absent if all
// indices are known to be.
Tensor IsWithin(Call& c, const Tensor& index, const Dim& extent) {
  const auto known = c.builder().IntegerContents(index.value());
  bool is_within = known.has_value() && extent.is_constant();
  for (size_t i = 0; is_within && i < known->size(); ++i) {
    const Dim& one = (*known)[i];
    is_within = one.is_constant() && one.constant() >= 0 &&
                one.constant() < extent.constant();
  }
  if (is_within) return {};
  return ops::And(ops::LessEqual(0, index),
                  ops::Less(index, ops::DimScalar(c.builder(), extent)));
}

// The operands of an indexing expression x[i, :, j …], rewritten as a gather
// along one axis: the axes that have an index are moved to the front and merged
// into one.
struct Indexed {
  // x as [K, others…], where K is the merged axis.
  Tensor data;
  // Indices of the merged axis, in the shape to which the given indices
  // broadcast.
  Tensor index;
  Shape others;  // Extents of the axes that have no index.
  // Order of axes that moves the indexed axes of x to the front, before they
  // are merged.
  std::vector<int64_t> order;
  // Index of the dim of the result at which the dims of the indices begin.
  int first = 0;
  bool ok = false;
};
Indexed PrepareIndex(Call& c, const Tensor& x) {
  Indexed indexed;
  const Value& list = c.value("indices");
  std::vector<Tensor> indices;
  std::vector<bool> is_of_mask;
  for (const Value& item : list.list->items) {
    is_of_mask.resize(indices.size(), false);
    if (item.is_none()) {
      indices.emplace_back();
      continue;
    }
    const Tensor index = c.machine().ToTensor(item);
    if (!c.ok()) return indexed;
    if (index.is_float()) {
      c.machine().Want(index, DType::kI64);
      c.FailInvalid("indices: expected integers or booleans, found floats");
      return indexed;
    }
    if (index.dtype() == DType::kBool || index.dtype() == DType::kU8) {
      if (index.rank() == 0) {
        c.FailUnsupported(
            "indices: expected masks with dims, found one without");
        return indexed;
      }
      const Tensor mask = FittedMask(c, x, indices.size(), index);
      if (!c.ok()) return indexed;
      for (const Tensor& one : NonZeroIndices(c, mask)) indices.push_back(one);
      is_of_mask.resize(indices.size(), true);
    } else {
      indices.push_back(ops::Cast(index, DType::kI64));
    }
  }
  if (indices.size() > static_cast<size_t>(x.rank())) {
    c.FailInvalid("indices: expected at most " + std::to_string(x.rank()) +
                  ", found " + std::to_string(indices.size()));
    return indexed;
  }
  indices.resize(static_cast<size_t>(x.rank()));
  is_of_mask.resize(indices.size(), false);
  std::vector<int64_t> with;
  std::vector<int64_t> without;
  for (int i = 0; i < x.rank(); ++i)
    (indices[static_cast<size_t>(i)] ? with : without).push_back(i);
  if (with.empty()) {
    c.FailInvalid("indices: expected at least one tensor, found none");
    return indexed;
  }
  // If the indexed axes are adjacent, the dims of the indices take their
  // position in the result; otherwise they are the first dims.
  const bool side_by_side =
      with.back() - with.front() + 1 == static_cast<int64_t>(with.size());
  indexed.first = side_by_side ? static_cast<int>(with.front()) : 0;
  indexed.order = with;
  indexed.order.insert(indexed.order.end(), without.begin(), without.end());
  Dim merged(1);
  // An index that is out of range of its own axis might be a valid index of the
  // merged axis, and then read another slice. So it is checked per axis. For
  // the first axis, the check of the merged axis is enough.
  Tensor is_within;
  for (const int64_t axis : with) {
    const auto at = static_cast<size_t>(axis);
    const Dim& extent = x.dim(static_cast<int>(axis));
    Tensor index = indices[at];
    if (!is_of_mask[at]) {
      index = ops::NormalizeIndices(index, extent);
      if (!c.ok()) return indexed;
      const Tensor this_one =
          axis == with.front() ? Tensor() : IsWithin(c, index, extent);
      if (this_one)
        is_within = is_within ? ops::And(is_within, this_one) : this_one;
    }
    indexed.index =
        indexed.index
            ? indexed.index * ops::DimScalar(c.builder(), extent) + index
            : index;
    merged = merged * extent;
  }
  if (is_within) {
    indexed.index =
        ops::Select(is_within, indexed.index, indexed.index.Like(-1));
  }
  Shape shape = {merged};
  for (const int64_t axis : without)
    indexed.others.push_back(x.dim(static_cast<int>(axis)));
  shape.insert(shape.end(), indexed.others.begin(), indexed.others.end());
  indexed.data = ops::Reshape(ops::Transpose(x, indexed.order), shape);
  indexed.ok = c.ok();
  return indexed;
}
// Returns the order of axes for a transposition that exchanges the first
// `count` axes and the `first` axes after them; the other axes stay.
std::vector<int64_t> MovedBehind(int count, int first, int rank) {
  std::vector<int64_t> order;
  for (int i = 0; i < first; ++i) order.push_back(count + i);
  for (int i = 0; i < count; ++i) order.push_back(i);
  for (int i = count + first; i < rank; ++i) order.push_back(i);
  return order;
}
Tensor Index(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  const Indexed indexed = PrepareIndex(c, x);
  if (!indexed.ok) return x;
  const Tensor taken = ops::Gather(indexed.data, indexed.index, 0);
  if (!c.ok()) return x;
  return ops::Transpose(
      taken, MovedBehind(indexed.index.rank(), indexed.first, taken.rank()));
}

Tensor IndexPut(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor values = ops::Cast(c.tensor("values"), x.dtype());
  const bool accumulate = c.flag("accumulate");
  if (!c.ok()) return x;
  const std::vector<Value>& items = c.value("indices").list->items;
  // A single value is assigned where a mask is true. That is a select, which
  // does not need the positions of the true elements.
  if (items.size() == 1 && items[0].is_tensor() && !accumulate) {
    const Tensor mask = c.machine().ToTensor(items[0]);
    if (mask.dtype() == DType::kBool && mask.rank() <= x.rank() &&
        graph::ElementCount(values.shape()) == Dim(1)) {
      const Tensor fitted = FittedMask(c, x, 0, mask);
      if (!c.ok()) return x;
      Shape shape = fitted.shape();
      shape.resize(x.shape().size(), Dim(1));
      return ops::Select(ops::Reshape(fitted, shape), ops::Reshape(values, {}),
                         x);
    }
  }
  Indexed indexed = PrepareIndex(c, x);
  if (!indexed.ok) return x;
  // If the values are not broadcast, the mask must have as many true elements
  // as there are values. WithDim makes the program check that.
  const auto behind = static_cast<int>(indexed.others.size()) - indexed.first;
  if (indexed.index.rank() == 1 && values.rank() > behind &&
      values.dim(values.rank() - 1 - behind) != Dim(1)) {
    indexed.index =
        ops::WithDim(indexed.index, 0, values.dim(values.rank() - 1 - behind));
  }
  // The values are broadcast to the shape of x[indices], then transposed so
  // that the dims of the indices come first, as in Indexed::data.
  const int count = indexed.index.rank();
  Shape rows = indexed.index.shape();
  rows.insert(rows.end(), indexed.others.begin(), indexed.others.end());
  const std::vector<int64_t> order =
      MovedBehind(count, indexed.first, static_cast<int>(rows.size()));
  Shape taken;
  for (const int64_t axis : order)
    taken.push_back(rows[static_cast<size_t>(axis)]);
  const std::vector<int64_t> back = InverseOrder(order);
  const Dim places = graph::ElementCount(indexed.index.shape());
  Shape flat = {places};
  flat.insert(flat.end(), indexed.others.begin(), indexed.others.end());
  const Tensor updates =
      ops::Reshape(ops::Transpose(ops::Broadcast(values, taken), back), flat);
  const Tensor index = ops::Reshape(indexed.index, {places, Dim(1)});
  Tensor result =
      Apply("scatter_nd", {indexed.data, index, updates},
            {{"update", std::string(accumulate ? "add" : "assign")}});
  if (!c.ok()) return x;
  Shape apart;
  for (const int64_t axis : indexed.order)
    apart.push_back(x.dim(static_cast<int>(axis)));
  return ops::Transpose(ops::Reshape(result, apart),
                        InverseOrder(indexed.order));
}

// The operators below accept only indices from 0 on, like PyTorch. The gather
// or scatter makes the program check them.
Tensor IndexSelect(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const Tensor index = c.Indices("index");
  if (!c.CheckRank("index", index, 0, 1)) return x;
  return WithoutAxis(ops::Gather(WithAxis(x), WithAxis(index), axis), x);
}
Tensor GatherAlong(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const Tensor index = c.Indices("index");
  if (!c.ok()) return x;
  return WithoutAxis(Apply("gather_elements", {WithAxis(x), WithAxis(index)},
                           {{"axis", int64_t{axis}}}),
                     index);
}
Tensor TakeAlong(Call& c) {
  Tensor x = c.tensor("self");
  Tensor index = c.Indices("indices");
  if (!c.ok()) return x;
  if (!c.has("dim")) {
    return ops::Gather(
        ops::Reshape(x, {graph::ElementCount(x.shape())}),
        ops::Reshape(index, {graph::ElementCount(index.shape())}), 0);
  }
  const int axis = c.axis("dim", x.rank());
  if (!c.CheckRank("indices", index, x.rank(), x.rank())) return x;
  const Tensor none = index;
  x = WithAxis(x);
  index = WithAxis(index);
  // x and the index are broadcast to each other along all axes but `axis`.
  Shape dims = x.shape();
  Shape places = index.shape();
  const auto at = static_cast<size_t>(axis);
  const Dim extent = dims[at];
  const Dim count = places[at];
  dims[at] = places[at] = Dim(1);
  const StatusOr<Shape> both = graph::BroadcastShapes(dims, places);
  if (!both.ok()) {
    c.FailInvalid(std::string(both.status().message()));
    return x;
  }
  dims = places = *both;
  dims[at] = extent;
  places[at] = count;
  return WithoutAxis(
      Apply("gather_elements",
            {ops::Broadcast(x, dims), ops::Broadcast(index, places)},
            {{"axis", int64_t{axis}}}),
      none);
}
Tensor Take(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor index = c.Indices("index");
  if (!c.ok()) return x;
  const Dim count = graph::ElementCount(x.shape());
  return ops::Gather(ops::Reshape(x, {count}),
                     ops::NormalizeIndices(index, count), 0);
}

// Imports the family of scatter: returns x with `source` written to the indices
// along an axis by the rule `update`. If the source is larger than the index,
// only its first elements are used.
Tensor ScatterInto(Call& c, const Tensor& given, Tensor source,
                   const std::string& update) {
  const Tensor x = WithAxis(given);
  const int axis = c.axis("dim", x.rank());
  const Tensor index = WithAxis(c.Indices("index"));
  if (!c.CheckRank("index", index, x.rank(), x.rank())) return given;
  source = ops::Cast(source, x.dtype());
  if (source.rank() == 0) {
    source = ops::Broadcast(source, index.shape());
  } else {
    for (int i = 0; i < index.rank(); ++i)
      if (source.dim(i) != index.dim(i))
        source = ops::SliceAxis(source, i, Dim(0), index.dim(i));
  }
  return WithoutAxis(Apply("scatter_elements", {x, index, source},
                           {{"axis", int64_t{axis}}, {"update", update}}),
                     given);
}
std::string UpdateOf(Call& c, const std::string& reduce) {
  if (reduce == "add" || reduce == "sum") return "add";
  if (reduce == "multiply" || reduce == "prod") return "multiply";
  if (reduce == "amax") return "maximum";
  if (reduce == "amin") return "minimum";
  c.FailUnsupported("reduce: expected add, multiply, amax or amin, found '" +
                    reduce + "'");
  return "add";
}
Tensor Scatter(Call& c) {
  const Tensor x = c.tensor("self");
  return ScatterInto(c, x, c.tensor("src"), "assign");
}
Tensor ScatterValue(Call& c) {
  const Tensor x = c.tensor("self");
  return ScatterInto(c, x, c.scalar("value", x.dtype()), "assign");
}
Tensor ScatterUpdating(Call& c) {
  const Tensor x = c.tensor("self");
  return ScatterInto(c, x, c.tensor("src"), UpdateOf(c, c.text("reduce")));
}
Tensor ScatterAdd(Call& c) {
  const Tensor x = c.tensor("self");
  return ScatterInto(c, x, c.tensor("src"), "add");
}
// Writes whole slices to the indices along an axis by the rule `update`. The
// axis is moved to the front, so that a slice is a row.
Tensor ScatterSlicesAt(Call& c, const Tensor& given, Tensor source,
                       Tensor index, const std::string& update) {
  const Tensor x = WithAxis(given);
  const int axis = c.axis("dim", x.rank());
  if (!c.CheckRank("index", index, 0, 1)) return given;
  const Dim count = graph::ElementCount(index.shape());
  index = ops::Reshape(index, {count, Dim(1)});
  std::vector<int64_t> order = {axis};
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  const std::vector<int64_t> back = InverseOrder(order);
  source = ops::Cast(source, x.dtype());
  const Tensor front = ops::Transpose(x, order);
  Tensor rows;
  if (source.rank() == 0) {
    Shape shape = front.shape();
    shape[0] = count;
    rows = ops::Broadcast(source, shape);
  } else {
    rows = ops::Transpose(source, order);
  }
  return WithoutAxis(ops::Transpose(Apply("scatter_nd", {front, index, rows},
                                          {{"update", update}}),
                                    back),
                     given);
}
Tensor ScatterSlices(Call& c, const Tensor& x, Tensor source,
                     const std::string& update) {
  return ScatterSlicesAt(c, x, std::move(source), c.Indices("index"), update);
}
Tensor IndexAdd(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor source = c.tensor("source");
  if (!c.ok()) return x;
  return ScatterSlices(c, x, source * c.scalar("alpha", source.dtype()), "add");
}
Tensor IndexCopy(Call& c) {
  return ScatterSlices(c, c.tensor("self"), c.tensor("source"), "assign");
}
Tensor IndexFill(Call& c) {
  const Tensor x = c.tensor("self");
  const int axis = c.axis("dim", x.rank());
  const Tensor index = c.Indices("index");
  if (!c.ok()) return x;
  // index_fill counts negative indices from the end, unlike the other operators
  // that write slices.
  return ScatterSlicesAt(c, x, c.scalar("value", x.dtype()),
                         ops::NormalizeIndices(index, WithAxis(x).dim(axis)),
                         "assign");
}

// ScatterInto or ScatterSlices.
using ScatterFunction = Tensor (*)(Call&, const Tensor&, Tensor,
                                   const std::string&);
// Imports scatter_reduce and index_reduce: combines elements of x with the
// elements of the source that the index assigns to them. Without include_self,
// elements of x that get any do not count themselves; all others stay.
Tensor ScatterReduced(Call& c, const Tensor& source, ScatterFunction scatter) {
  const Tensor x = c.tensor("self");
  const std::string reduce = c.text("reduce");
  const bool include_self = c.flag("include_self");
  const bool is_mean = reduce == "mean";
  const std::string update = is_mean ? "add" : UpdateOf(c, reduce);
  if (!c.ok()) return x;
  Tensor start = x;
  if (!include_self) {
    // The elements of x must not count, so they are replaced by the neutral
    // element. A maximum or minimum may begin with any element of the source
    // instead.
    const bool is_extreme = update == "maximum" || update == "minimum";
    start = scatter(c, x,
                    is_extreme ? source : x.Like(update == "multiply" ? 1 : 0),
                    "assign");
  }
  const Tensor y = scatter(c, start, source, update);
  if (!is_mean || !c.ok()) return y;
  Tensor count = ops::Broadcast(x.Like(1), x.shape());
  if (!include_self) count = scatter(c, count, x.Like(0), "assign");
  count = scatter(c, count, x.Like(1), "add");
  return x.is_float() ? y / count : ops::Binary(Opcode::kFloorDivide, y, count);
}
Tensor ScatterReduce(Call& c) {
  return ScatterReduced(c, c.tensor("src"), ScatterInto);
}
Tensor IndexReduce(Call& c) {
  return ScatterReduced(c, c.tensor("source"), ScatterSlices);
}

Tensor MaskedSelect(Call& c) {
  Tensor x = c.tensor("self");
  Tensor mask = c.tensor("mask");
  if (!BroadcastTogether(c, x, mask)) return x;
  const Tensor flat = ops::Reshape(x, {graph::ElementCount(x.shape())});
  return ops::Gather(flat, NonZeroPositions(c, mask), 0);
}
Tensor NonZero(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  std::vector<Tensor> columns;
  for (const Tensor& index : NonZeroIndices(c, x))
    columns.push_back(ops::Unsqueeze(index, {1}));
  // A tensor without dims has positions of no indices, [count, 0].
  if (x.rank() == 0) return ops::SliceAxis(columns[0], 1, Dim(0), Dim(0));
  return Concat(columns, 1);
}
Value NonZeroAlongAxes(Call& c, std::string_view name) {
  const Tensor x = c.tensor(name);
  if (!c.ok()) return {};
  std::vector<Value> indices;
  for (const Tensor& index : NonZeroIndices(c, x))
    indices.push_back(c.machine().NewTensor(index));
  return c.machine().NewList(std::move(indices));
}
Value Where(Call& c) { return NonZeroAlongAxes(c, "condition"); }
Value NonZeroNumpy(Call& c) { return NonZeroAlongAxes(c, "self"); }

Tensor Embedding(Call& c) {
  const Tensor weight = c.tensor("weight");
  const Tensor indices = c.Indices("indices");
  if (!c.CheckRank("weight", weight, 2, 2)) return weight;
  return ops::Gather(weight, indices, 0);
}
Tensor OneHot(Call& c) {
  const Tensor x = c.Indices("self");
  const int64_t classes = c.integer("num_classes");
  if (!c.ok()) return x;
  if (classes < 0) {
    c.FailUnsupported(
        "num_classes: expected a number, as only the run knows "
        "the largest index");
    return x;
  }
  // The gather makes the program check that each number is a class, from 0 to
  // classes - 1.
  const Tensor numbers = IotaVector(c.builder(), Dim(classes), DType::kI64);
  const Tensor chosen = ops::Gather(numbers, x, 0);
  return ops::Cast(ops::Equal(ops::Unsqueeze(chosen, {x.rank()}),
                              ops::AlongAxis(numbers, x.rank(), x.rank() + 1)),
                   DType::kI64);
}
// Returns true for NaN. Integers are never NaN.
Tensor IsUnordered(const Tensor& x) { return ops::NotEqual(x, x); }
// Imports searchsorted and bucketize: for each element of x, the number of
// boundaries below it or, if `right`, not above it; NaN is above all numbers.
// `sorted` has one axis, or the axes of x; then each row of x has its own
// boundaries.
Tensor CountBelow(Call& c, const Tensor& sorted, const Tensor& x, bool right) {
  if (!c.CheckRank("boundaries", sorted, 1)) return x;
  const DType type = PromoteTypes(sorted.dtype(), x.dtype());
  Tensor bounds = ops::Cast(sorted, type);
  if (sorted.rank() == 1) {
    bounds = ops::AlongAxis(bounds, x.rank(), x.rank() + 1);
  } else {
    if (!c.CheckRank("self", x, sorted.rank(), sorted.rank())) return x;
    bounds = ops::Unsqueeze(bounds, {x.rank() - 1});
  }
  const Tensor value = ops::Unsqueeze(ops::Cast(x, type), {x.rank()});
  const Tensor is_below =
      right ? ops::Or(ops::LessEqual(bounds, value), IsUnordered(value))
            : ops::And(ops::Not(ops::LessEqual(value, bounds)),
                       ops::Not(IsUnordered(bounds)));
  return ops::Reduce(ops::Cast(is_below, DType::kI64), "sum", {x.rank()},
                     false);
}
Tensor Bucketize(Call& c) {
  const Tensor boundaries = c.tensor("boundaries");
  if (!c.CheckRank("boundaries", boundaries, 1, 1)) return boundaries;
  const Tensor count =
      CountBelow(c, boundaries, c.tensor("self"), c.flag("right"));
  return c.flag("out_int32") ? ops::Cast(count, DType::kI32) : count;
}
Tensor SearchSorted(Call& c) {
  Tensor sorted = c.tensor("sorted_sequence");
  if (c.has("sorter")) {
    const Tensor order = c.Indices("sorter");
    if (!c.CheckRank("sorter", order, sorted.rank(), sorted.rank()))
      return order;
    sorted = Apply("gather_elements", {sorted, order},
                   {{"axis", int64_t{sorted.rank() - 1}}});
  }
  const bool right =
      c.flag("right") || (c.has("side") && c.text("side") == "right");
  const DType type = ResultType(c, {"sorted_sequence", "self"});
  const Tensor count = CountBelow(c, sorted, c.scalar("self", type), right);
  return c.flag("out_int32") ? ops::Cast(count, DType::kI32) : count;
}

constexpr OperatorRow kRows[] = {
    {"index(Tensor self, Tensor?[] indices)", Index},
    {"index_put(Tensor self, Tensor?[] indices, Tensor values, "
     "bool accumulate=False)",
     IndexPut},
    {"_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, "
     "bool accumulate=False, bool unsafe=False)",
     IndexPut},
    {"index_select(Tensor self, int dim, Tensor index)", IndexSelect},
    {"gather(Tensor self, int dim, Tensor index, *, "
     "bool sparse_grad=False)",
     GatherAlong},
    {"take_along_dim(Tensor self, Tensor indices, int? dim=None)", TakeAlong},
    {"take(Tensor self, Tensor index)", Take},
    {"scatter(Tensor self, int dim, Tensor index, Operand src)", Scatter},
    {"scatter(Tensor self, int dim, Tensor index, *, Operand value)",
     ScatterValue},
    {"scatter(Tensor self, int dim, Tensor index, Operand src, *, str reduce)",
     ScatterUpdating},
    {"scatter_add(Tensor self, int dim, Tensor index, Tensor src)", ScatterAdd},
    {"scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, "
     "str reduce, *, bool include_self=True)",
     ScatterReduce},
    {"index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
     "Scalar alpha=1)",
     IndexAdd},
    {"index_copy(Tensor self, int dim, Tensor index, Tensor source)",
     IndexCopy},
    {"index_fill(Tensor self, int dim, Tensor index, Operand value)",
     IndexFill},
    {"index_reduce(Tensor self, int dim, Tensor index, Tensor source, "
     "str reduce, *, bool include_self=True)",
     IndexReduce},
    {"masked_select(Tensor self, Tensor mask)", MaskedSelect},
    {"nonzero(Tensor self)", NonZero},
    {"argwhere(Tensor self)", NonZero},
    {"nonzero_numpy(Tensor self)", NonZeroNumpy},
    {"where(Tensor condition)", Where},
    {"embedding(Tensor weight, Tensor indices, int padding_idx=-1, "
     "bool scale_grad_by_freq=False, bool sparse=False)",
     Embedding},
    {"one_hot(Tensor self, int num_classes=-1)", OneHot},
    {"bucketize(Tensor self, Tensor boundaries, *, bool out_int32=False, "
     "bool right=False)",
     Bucketize},
    {"searchsorted(Tensor sorted_sequence, Operand self, *, "
     "bool out_int32=False, bool right=False, str? side=None, "
     "Tensor? sorter=None)",
     SearchSorted},
};

}  // namespace

std::span<const OperatorRow> IndexingRows() { return kRows; }

}  // namespace ember::torchscript
