#include "frontends/tf_common/indexing.h"

#include <cmath>
#include <limits>
#include <optional>

namespace ember::tf_common {
namespace {

Tensor Indices(Tensor x) { return Cast(x, DType::kI64); }

// Combines row i of the data into row ids[i] of the result; rows of the data
// with negative ids are ignored.
void SetSegments(OperatorBase& c, const Dim& count, const std::string& update,
                 Tensor initial) {
  const Tensor data = c.Input(0);
  const Tensor ids = Indices(c.Input(1));
  Shape shape(data.shape().begin() + ids.rank(), data.shape().end());
  const Dim rows = ElementCount(ids.shape());
  Shape updates{rows};
  updates.insert(updates.end(), shape.begin(), shape.end());
  // The scatter has one more row than the result, to which ignored rows are
  // written; it is cut off at the end.
  shape.insert(shape.begin(), count + Dim(1));
  const Tensor none = DimScalar(c.builder(), count);
  const Tensor place = Select(Less(ids, 0), none, ids);
  const Tensor y =
      Apply("scatter_nd",
            {Broadcast(initial, shape), Reshape(place, {rows, Dim(1)}),
             Reshape(data, updates)},
            {{"update", update}});
  c.SetOutput(0, SliceAxis(y, 0, Dim(0), count));
}

}  // namespace

double ExtremeOf(DType dtype, bool highest) {
  if (IsFloat(dtype)) {
    const double value =
        dtype == DType::kF64    ? std::numeric_limits<double>::max()
        : dtype == DType::kF16  ? 65504
        : dtype == DType::kBF16 ? std::ldexp(255, 120)
                                : std::numeric_limits<float>::max();
    return highest ? value : -value;
  }
  const int bits = 8 * DTypeByteSize(dtype);
  if (!IsSigned(dtype)) return highest ? std::ldexp(1, bits) - 1 : 0;
  // The highest i64, 2^63 - 1, is not representable as a double. The largest
  // double below it is returned.
  if (bits == 64 && highest) return std::ldexp(1, 63) - 1024;
  return highest ? std::ldexp(1, bits - 1) - 1 : -std::ldexp(1, bits - 1);
}

Tensor ExtremeLike(Tensor x, bool highest) {
  const bool is_exact =
      IsFloat(x.dtype()) || DTypeByteSize(x.dtype()) < 8 || !highest;
  if (is_exact) return x.Like(ExtremeOf(x.dtype(), highest));
  // The highest 64-bit integer is not representable as a double, so it is
  // computed: a number with all bits set, minus the lowest integer.
  const Tensor all = IsSigned(x.dtype()) ? x.Like(-1) : x.Like(0) - x.Like(1);
  return all - x.Like(ExtremeOf(x.dtype(), false));
}

void ImportArgExtreme(OperatorBase& c, const std::string& mode) {
  if (!c.CheckRank(0, 1)) return;
  const auto axis = c.ConstantIntegers(1, "axis");
  if (!axis || axis->size() != 1) return;
  const Tensor index =
      Apply("arg_reduce", {c.Input(0)},
            {{"mode", mode},
             {"axis", int64_t{c.Axis(axis->front(), c.Input(0).rank())}},
             {"last", int64_t{0}}});
  c.SetOutput(0, Cast(index, c.OutputType(0)));
}

void ImportGather(OperatorBase& c, int64_t given, int64_t batch_dims) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const Tensor x = c.Input(0);
  const int axis = c.Axis(given, x.rank());
  const int64_t batch =
      batch_dims < 0 ? batch_dims + c.Input(1).rank() : batch_dims;
  if (!c.ok()) return;
  Tensor indices = NormalizeIndices(c.Input(1), x.dim(axis));
  if (batch == 0) return c.SetOutput(0, Gather(x, indices, axis));
  if (batch < 0 || batch > axis || batch > indices.rank()) {
    return c.FailInvalid("batch_dims: expected at most the axis, " +
                         std::to_string(axis) + ", and the indices' dims, " +
                         std::to_string(indices.rank()) + ", found " +
                         std::to_string(batch_dims));
  }
  const int b = static_cast<int>(batch);
  // The axis is moved right behind the batch dims, because gather_nd indexes
  // the first dim after those. It replaces this dim by the dims of the indices.
  std::vector<int64_t> order, back;
  for (int i = 0; i < b; ++i) order.push_back(i);
  order.push_back(axis);
  for (int i = b; i < x.rank(); ++i)
    if (i != axis) order.push_back(i);
  const Tensor y = Apply(
      "gather_nd", {Transpose(x, order), Unsqueeze(indices, {indices.rank()})},
      {{"batch_dims", batch}});
  if (axis == b) return c.SetOutput(0, y);
  const int chosen = indices.rank() - b, between = axis - b;
  for (int i = 0; i < b; ++i) back.push_back(i);
  for (int i = 0; i < between; ++i) back.push_back(b + chosen + i);
  for (int i = 0; i < chosen; ++i) back.push_back(b + i);
  for (int i = b + chosen + between; i < y.rank(); ++i) back.push_back(i);
  c.SetOutput(0, Transpose(y, back));
}

void ImportGatherNd(OperatorBase& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, Apply("gather_nd", {c.Input(0), Indices(c.Input(1))},
                       {{"batch_dims", int64_t{0}}}));
}

void ImportScatterNd(OperatorBase& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const auto shape = c.Sizes(2, "shape");
  if (!shape) return;
  const Tensor updates = c.Input(1);
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(updates.Like(0), *shape), Indices(c.Input(0)),
                        updates},
                       {{"update", std::string("add")}}));
}

void ImportSparseToDense(OperatorBase& c) {
  if (!c.CheckRank(0, 0, 2) || !c.CheckRank(2, 0, 1) || !c.CheckRank(3, 0, 1))
    return;
  const auto shape = c.Sizes(1, "output_shape");
  if (!shape) return;
  Tensor indices = Indices(c.Input(0));
  if (indices.rank() == 0) indices = Reshape(indices, {Dim(1), Dim(1)});
  if (indices.rank() == 1) indices = Unsqueeze(indices, {1});
  const Tensor values = c.Input(2);
  const Tensor updates = values.rank() == 1 && indices.dim(0) == values.dim(0)
                             ? values
                             : Broadcast(Reshape(values, {}), {indices.dim(0)});
  c.SetOutput(
      0, Apply("scatter_nd",
               {Broadcast(Reshape(c.Input(3), {}), *shape), indices, updates},
               {{"update", std::string("assign")}}));
}

void ImportOneHot(OperatorBase& c, int64_t given) {
  if (!c.CheckRank(0, 0, kMaxRank - 1)) return;
  const auto depth = c.Sizes(1, "depth");
  if (!depth) return;
  if (depth->size() != 1) return c.FailInvalid("depth: expected one value");
  const int rank = c.Input(0).rank() + 1;
  const int axis = c.Axis(given, rank);
  if (!c.ok()) return;
  const Tensor places = IndexAlong(c, depth->front(), axis, rank);
  const Tensor hot = Equal(Unsqueeze(Indices(c.Input(0)), {axis}), places);
  c.SetOutput(0, Select(hot, Reshape(c.Input(2), {}), Reshape(c.Input(3), {})));
}

void ImportTopK(OperatorBase& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto k = c.Sizes(1, "k");
  if (!k) return;
  if (k->size() != 1) return c.FailInvalid("k: expected one value");
  const std::vector<Tensor> results =
      ApplyAll("top_k", {c.Input(0)},
               {{"axis", int64_t{c.Input(0).rank() - 1}},
                {"k", *k},
                {"largest", int64_t{1}}});
  if (results.size() != 2) return;
  c.SetOutput(0, results[0]);
  if (c.output_count() > 1) c.SetOutput(1, Cast(results[1], c.OutputType(1)));
}

// Imports Where: the positions at which the condition is true, [n, rank],
// row-major.
void ImportWhere(OperatorBase& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor flat = Apply("non_zero", {Cast(x, DType::kBool)},
                            {{"defines", Shape{c.builder().FreshSymbol()}}});
  std::vector<Tensor> columns;
  for (int i = 0; i < x.rank() && c.ok(); ++i) {
    const Dim inner =
        ElementCount(Shape(x.shape().begin() + i + 1, x.shape().end()));
    const Tensor above =
        Binary(Opcode::kFloorDivide, flat, DimScalar(c.builder(), inner));
    columns.push_back(
        Unsqueeze(Modulo(above, DimScalar(c.builder(), x.dim(i))), {1}));
  }
  if (c.ok()) c.SetOutput(0, Cast(Concat(columns, 1), c.OutputType(0)));
}

void ImportUnique(OperatorBase& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const std::vector<Tensor> results = ApplyAll(
      "unique", {Unsqueeze(c.Input(0), {1})},
      {{"defines", Shape{c.builder().FreshSymbol()}}, {"sorted", int64_t{0}}});
  if (results.size() != 4) return;
  c.SetOutput(0, Squeeze(results[0], {1}));
  if (c.output_count() > 1) c.SetOutput(1, Cast(results[2], c.OutputType(1)));
}

void ImportReverseSequence(OperatorBase& c, int64_t seq_dim,
                           int64_t batch_dim) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1, 1)) return;
  const Tensor x = c.Input(0);
  const int along = c.Axis(seq_dim, x.rank());
  const int batch = c.Axis(batch_dim, x.rank());
  if (!c.ok()) return;
  const Tensor place = IndexAlong(c, x.dim(along), along, x.rank());
  const Tensor length = AlongAxis(Indices(c.Input(1)), batch, x.rank());
  const Tensor from = Select(Less(place, length), length - place - 1.0, place);
  c.SetOutput(0, Apply("gather_elements", {x, Broadcast(from, x.shape())},
                       {{"axis", int64_t{along}}}));
}

void ImportCumulative(OperatorBase& c, Opcode opcode, double identity,
                      bool exclusive, bool reverse) {
  if (!c.CheckRank(0, 1)) return;
  const auto given = c.ConstantIntegers(1, "axis");
  if (!given || given->size() != 1) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(given->front(), x.rank());
  if (!c.ok()) return;
  if (reverse) x = Reverse(x, axis);
  Tensor sums = InclusiveScan(x, axis, opcode, identity);
  if (exclusive) {
    Shape low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
    low[axis] = Dim(1);
    high[axis] = Dim(-1);
    sums = Pad(sums, low, high, "constant", x.Like(identity));
  }
  c.SetOutput(0, reverse ? Reverse(sums, axis) : sums);
}

void ImportSegment(OperatorBase& c, const std::string& update, Tensor initial) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  // The largest id, which is the last one because ids ascend, determines the
  // number of rows of the result.
  const Tensor ids = Indices(c.Input(1));
  const Tensor count =
      Maximum(Reduce(ids, "maximum", {0}, /*keep=*/true) + 1.0, 0);
  const Shape extents = c.builder().Extents(count.value());
  if (c.ok()) SetSegments(c, extents.front(), update, initial);
}

void ImportUnsortedSegment(OperatorBase& c, const std::string& update,
                           Tensor initial) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  if (c.Input(1).rank() > c.Input(0).rank())
    return c.FailInvalid("segment_ids: expected no more dims than the data");
  const auto count = c.Sizes(2, "num_segments");
  if (!count) return;
  if (count->size() != 1) return c.FailInvalid("num_segments: expected one");
  SetSegments(c, count->front(), update, initial);
}

void ImportUnsortedSegmentSum(OperatorBase& c) {
  ImportUnsortedSegment(c, "add", c.Input(0).Like(0));
}
void ImportUnsortedSegmentProd(OperatorBase& c) {
  ImportUnsortedSegment(c, "multiply", c.Input(0).Like(1));
}
void ImportUnsortedSegmentMax(OperatorBase& c) {
  ImportUnsortedSegment(c, "maximum", ExtremeLike(c.Input(0), false));
}
void ImportUnsortedSegmentMin(OperatorBase& c) {
  ImportUnsortedSegment(c, "minimum", ExtremeLike(c.Input(0), true));
}

void ImportMatrixDiag(OperatorBase& c) {
  if (!c.CheckRank(0, 1, kMaxRank - 1)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank() + 1;
  const Dim extent = x.dim(-1);
  const Tensor eye = Equal(IndexAlong(c, extent, rank - 2, rank),
                           IndexAlong(c, extent, rank - 1, rank));
  c.SetOutput(0, Select(eye, Unsqueeze(x, {rank - 1}), x.Like(0)));
}

void ImportMatrixSetDiag(OperatorBase& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(0);
  Tensor diagonal = c.Input(1);
  const int rank = x.rank();
  const Dim missing = x.dim(-2) - diagonal.dim(-1);
  if (missing != Dim(0)) {
    Shape low(diagonal.rank(), Dim(0)), high(diagonal.rank(), Dim(0));
    high.back() = missing;
    diagonal = Pad(diagonal, low, high, "constant", diagonal.Like(0));
  }
  const Tensor eye = Equal(IndexAlong(c, x.dim(-2), rank - 2, rank),
                           IndexAlong(c, x.dim(-1), rank - 1, rank));
  c.SetOutput(0, Select(eye, Unsqueeze(diagonal, {diagonal.rank()}), x));
}

// Imports DynamicUpdateSlice. An element of the result comes from the update if
// its position is within the update.
void ImportDynamicUpdateSlice(OperatorBase& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1) || !c.CheckRank(2, 1, 1)) return;
  const Tensor x = c.Input(0);
  Tensor update = c.Input(1);
  if (update.rank() != x.rank())
    return c.FailInvalid("update: expected as many dims as the operand");
  const Tensor starts = Indices(c.Input(2));
  Tensor inside;
  for (int i = 0; i < x.rank() && c.ok(); ++i) {
    const Dim extent = c.Input(1).dim(i);
    const Tensor most = DimScalar(c.builder(), x.dim(i) - extent);
    const Tensor start = Minimum(
        Maximum(Reshape(SliceAxis(starts, 0, Dim(i), Dim(1)), {}), 0), most);
    const Tensor place = IotaVector(c.builder(), x.dim(i), DType::kI64) - start;
    const Tensor last = DimScalar(c.builder(), extent - Dim(1));
    const Tensor within = And(LessEqual(0, place), LessEqual(place, last));
    update = Gather(update, Minimum(Maximum(place, 0), last), i);
    const Tensor along = AlongAxis(within, i, x.rank());
    inside = inside ? And(inside, along) : along;
  }
  if (c.ok()) c.SetOutput(0, Select(inside, update, x));
}

// Imports Bucketize: for each element, the number of boundaries that are not
// above it.
void ImportBucketize(OperatorBase& c, const std::vector<float>& boundaries) {
  if (!c.CheckRank(0, 0, kMaxRank - 1)) return;
  const Tensor x = Cast(c.Input(0), DType::kF32);
  if (boundaries.empty()) {
    return c.SetOutput(0, Broadcast(c.Scalar(0, DType::kI32), x.shape()));
  }
  const Tensor value = Unsqueeze(x, {x.rank()});
  // NaN counts as above all boundaries (docs/arithmetic.md).
  const Tensor reached = Or(LessEqual(c.Vector(DType::kF32, boundaries), value),
                            NotEqual(value, value));
  c.SetOutput(0, Reduce(Cast(reached, DType::kI32), "sum", {x.rank()},
                        /*keep=*/false));
}

}  // namespace ember::tf_common
