// Operators that make, move, choose and reduce elements: what is an attribute
// of TensorFlow, for tf_common, and what only TensorFlow has.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tensorflow/constants.h"
#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

std::optional<std::vector<int64_t>> ReadAxes(OperatorContext& c) {
  if (!c.CheckRank(0, 0)) return std::nullopt;
  const auto given = c.ConstantIntegers(1, "axes");
  if (!given) return std::nullopt;
  std::vector<int64_t> axes = c.Axes(*given, c.Input(0).rank());
  if (!c.ok()) return std::nullopt;
  return axes;
}

bool KeepDims(OperatorContext& c) {
  return c.Flag("keep_dims", c.Flag("keepdims", false));
}

void SetReduced(OperatorContext& c, std::string_view combiner) {
  const auto axes = ReadAxes(c);
  if (axes) c.SetOutput(0, Reduce(c.Input(0), combiner, *axes, KeepDims(c)));
}

// Of bool: the largest is whether any is true, the smallest whether all are.
void SetReducedBool(OperatorContext& c, std::string_view combiner) {
  const auto axes = ReadAxes(c);
  if (!axes) return;
  const Tensor x = Cast(c.Input(0), DType::kU8);
  c.SetOutput(0, Cast(Reduce(x, combiner, *axes, KeepDims(c)), DType::kBool));
}

void SetConcat(OperatorContext& c, int first, int count, int axis_input) {
  const auto given = c.ConstantIntegers(axis_input, "axis");
  if (!given || given->size() != 1) return;
  std::vector<Tensor> parts;
  for (int i = first; i < first + count; ++i) {
    if (!c.CheckRank(i, 1)) return;
    parts.push_back(c.Input(i));
  }
  if (parts.empty()) return c.FailInvalid("expected operands, found none");
  const int axis = c.Axis(given->front(), parts.front().rank());
  if (c.ok()) c.SetOutput(0, Concat(parts, axis));
}

// 0, 1, … along one dim of rank `rank`.
Tensor PlaceAlong(OperatorContext& c, const Dim& extent, int axis, int rank) {
  return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, rank);
}

// Which diagonal each element of the two last dims is on: column - row.
Tensor DiagonalOf(OperatorContext& c, Tensor x) {
  const int rank = x.rank();
  return PlaceAlong(c, x.dim(-1), rank - 1, rank) -
         PlaceAlong(c, x.dim(-2), rank - 2, rank);
}

// The one diagonal k of MatrixDiagV2 and its like.
std::optional<int64_t> OneDiagonal(OperatorContext& c, int input) {
  const auto k = c.ConstantIntegers(input, "k");
  if (!k) return std::nullopt;
  if (k->size() == 1 || (k->size() == 2 && (*k)[0] == (*k)[1]))
    return k->front();
  c.FailUnsupported("k: expected one diagonal, found a band");
  return std::nullopt;
}

Tensor Diagonal(OperatorContext& c, Tensor x, int64_t k) {
  // Elements [i, i + k]: of a gather along the columns.
  const int rank = x.rank();
  const Dim rows = x.dim(-2), columns = x.dim(-1);
  const Dim first_row(k < 0 ? -k : 0), first_column(k > 0 ? k : 0);
  const Dim length =
      LargerOf(SmallerOf(rows - first_row, columns - first_column), Dim(0));
  const Tensor kept = SliceAxis(x, rank - 2, first_row, length);
  Shape shape = kept.shape();
  shape.back() = Dim(1);
  const Tensor column = PlaceAlong(c, length, rank - 2, rank) +
                        DimScalar(c.builder(), first_column);
  return Squeeze(Apply("gather_elements", {kept, Broadcast(column, shape)},
                       {{"axis", int64_t{rank - 1}}}),
                 {rank - 1});
}

void SetScattered(OperatorContext& c, const std::string& update, bool negate) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor updates = negate ? -c.Input(2) : c.Input(2);
  c.SetOutput(0, Apply("scatter_nd",
                       {c.Input(0), Cast(c.Input(1), DType::kI64), updates},
                       {{"update", update}}));
}

// How many elements each segment has, along the first dim of something of rank
// `rank`; at least 1.
Tensor SegmentCounts(OperatorContext& c, Tensor ids, const Dim& segments,
                     int rank, DType type) {
  const Tensor hit = Equal(Unsqueeze(Cast(ids, DType::kI64), {0}),
                           PlaceAlong(c, segments, 0, 2));
  const Tensor count = Reduce(Cast(hit, DType::kI32), "sum", {1}, false);
  return AlongAxis(Cast(Maximum(count, 1), type), 0, rank);
}

// Rows of a table joined by segment: (data, indices, segment ids[, count]).
void SetSparseSegments(OperatorContext& c, bool mean, bool root) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1) || !c.CheckRank(2, 1, 1))
    return;
  const Tensor rows = Gather(c.Input(0), Cast(c.Input(1), DType::kI64), 0);
  const Tensor ids = Cast(c.Input(2), DType::kI64);
  Dim segments;
  if (c.input_count() > 3) {
    const auto count = c.Sizes(3, "num_segments");
    if (!count || count->size() != 1) return;
    segments = count->front();
  } else {
    const Tensor count =
        Maximum(Reduce(ids, "maximum", {0}, /*keep=*/true) + 1.0, 0);
    const Shape extents = c.builder().Extents(count.value());
    if (!c.ok()) return;
    segments = extents.front();
  }
  Shape shape = rows.shape();
  shape[0] = segments;
  Tensor y = Apply("scatter_nd",
                   {Broadcast(rows.Like(0), shape), Unsqueeze(ids, {1}), rows},
                   {{"update", std::string("add")}});
  if (mean || root) {
    const Tensor count = SegmentCounts(c, ids, segments, y.rank(), y.dtype());
    y = y / (root ? Sqrt(count) : count);
  }
  c.SetOutput(0, y);
}

}  // namespace

void ImportConst(OperatorContext& c) {
  const AttrValue* value = c.Attribute("value");
  if (value == nullptr || !value->has_tensor())
    return c.FailInvalid("attribute 'value': expected a tensor");
  StatusOr<Value> constant =
      ConstantValue(value->tensor(), c.owner(), c.builder());
  if (!constant.ok())
    return c.builder().Fail(
        constant.status().WithContext("node '" + c.builder().origin() + "'"));
  c.SetValue(0, *std::move(constant));
}

void ImportReshape(OperatorContext& c) { tf_common::ImportReshape(c); }
void ImportSqueeze(OperatorContext& c) {
  tf_common::ImportSqueeze(c,
                           c.Integers("squeeze_dims", c.Integers("axis", {})));
}
void ImportConcat(OperatorContext& c) {
  SetConcat(c, 1, c.input_count() - 1, 0);
}
void ImportConcatV2(OperatorContext& c) {
  SetConcat(c, 0, c.input_count() - 1, c.input_count() - 1);
}
void ImportConcatOffset(OperatorContext& c) {
  const auto axis = c.ConstantIntegers(0, "axis");
  if (!axis || axis->size() != 1) return;
  c.SetOutputCount(c.input_count() - 1);
  Dim sum(0);
  for (int i = 1; i < c.input_count() && c.ok(); ++i) {
    const auto shape = c.Contents(i, "shape");
    if (!shape) return;
    const int at = c.Axis(axis->front(), static_cast<int>(shape->size()));
    if (!c.ok()) return;
    Shape offset(shape->size(), Dim(0));
    offset[static_cast<size_t>(at)] = sum;
    sum = sum + (*shape)[static_cast<size_t>(at)];
    c.SetOutput(i - 1, Cast(c.Wrap(c.builder().ShapeValue(offset)),
                            c.Input(i).dtype()));
  }
}
void ImportParallelConcat(OperatorContext& c) {
  std::vector<Tensor> parts;
  for (int i = 0; i < c.input_count(); ++i) {
    if (!c.CheckRank(i, 1)) return;
    parts.push_back(c.Input(i));
  }
  c.SetOutput(0, Concat(parts, 0));
}
void ImportPack(OperatorContext& c) {
  tf_common::ImportPack(c, c.Integer("axis", 0));
}
void ImportUnpack(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num", 0));
  if (c.ok()) tf_common::ImportUnpack(c, c.Integer("axis", 0));
}
void ImportSplit(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num_split", 0));
  if (c.ok()) tf_common::ImportSplit(c);
}
void ImportSplitV(OperatorContext& c) {
  c.SetOutputCount(c.Integer("num_split", 0));
  if (c.ok()) tf_common::ImportSplitV(c);
}
void ImportPad(OperatorContext& c) { tf_common::ImportPad(c, 0); }
void ImportMirrorPad(OperatorContext& c) {
  tf_common::ImportMirrorPad(c, c.Text("mode", "REFLECT") == "SYMMETRIC");
}
void ImportReverseV1(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto flags = c.ConstantNumbers(1, "dims");
  if (!flags) return;
  Tensor x = c.Input(0);
  if (static_cast<int>(flags->size()) != x.rank())
    return c.FailInvalid("dims: expected one flag per dim");
  for (int i = 0; i < x.rank(); ++i)
    if ((*flags)[static_cast<size_t>(i)] != 0) x = ops::Reverse(x, i);
  c.SetOutput(0, x);
}
// (x, shift, axis)
void ImportRoll(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto shifts = c.ConstantIntegers(1, "shift");
  const auto axes = c.ConstantIntegers(2, "axis");
  if (!shifts || !axes) return;
  if (shifts->size() != axes->size())
    return c.FailInvalid("expected as many shifts as axes");
  Tensor x = c.Input(0);
  for (size_t i = 0; i < axes->size() && c.ok(); ++i) {
    const int axis = c.Axis((*axes)[i], x.rank());
    const Dim extent = x.dim(axis);
    if (extent == Dim(0)) continue;
    // The last `by` elements come first.
    const Dim by = Modulo(Dim((*shifts)[i]), extent);
    x = Concat({SliceAxis(x, axis, extent - by, by),
                SliceAxis(x, axis, Dim(0), extent - by)},
               axis);
  }
  c.SetOutput(0, x);
}
void ImportSpaceToDepth(OperatorContext& c) {
  if (c.Text("data_format", "NHWC") != "NHWC")
    return c.FailUnsupported("attribute 'data_format': expected NHWC");
  tf_common::ImportSpaceToDepth(c, c.Integer("block_size", 0));
}
void ImportDepthToSpace(OperatorContext& c) {
  if (c.Text("data_format", "NHWC") != "NHWC")
    return c.FailUnsupported("attribute 'data_format': expected NHWC");
  tf_common::ImportDepthToSpace(c, c.Integer("block_size", 0));
}
void ImportSpaceToBatchNd(OperatorContext& c) {
  tf_common::ImportSpaceToBatchNd(c, 0);
}
void ImportStridedSlice(OperatorContext& c) {
  tf_common::ImportStridedSlice(
      c, {.begin = c.Integer("begin_mask", 0),
          .end = c.Integer("end_mask", 0),
          .ellipsis = c.Integer("ellipsis_mask", 0),
          .new_axis = c.Integer("new_axis_mask", 0),
          .shrink_axis = c.Integer("shrink_axis_mask", 0)});
}

void ImportShape(OperatorContext& c) {
  c.SetOutputType(0, c.Type("out_type", DType::kI32));
  tf_common::ImportShape(c);
}
void ImportShapeN(OperatorContext& c) {
  const DType type = c.Type("out_type", DType::kI32);
  c.SetOutputCount(c.input_count());
  for (int i = 0; i < c.input_count() && c.ok(); ++i)
    c.SetOutput(i,
                Cast(c.Wrap(c.builder().ShapeValue(c.Input(i).shape())), type));
}
void ImportSize(OperatorContext& c) {
  if (!c.CheckRank(0, 0)) return;
  c.SetOutput(0, Cast(DimScalar(c.builder(), ElementCount(c.Input(0).shape())),
                      c.Type("out_type", DType::kI32)));
}
void ImportRank(OperatorContext& c) {
  c.SetOutputType(0, DType::kI32);
  tf_common::ImportRank(c);
}
void ImportBroadcastArgs(OperatorContext& c) {
  c.SetOutputType(0, c.Input(0).dtype());
  tf_common::ImportBroadcastArgs(c);
}
// Whatever is there: zeros.
void ImportEmpty(OperatorContext& c) {
  const auto shape = c.Sizes(0, "shape");
  const DType type = c.Type("dtype", DType::kF32);
  if (shape) c.SetOutput(0, Broadcast(c.Scalar(0, type), *shape));
}
// (start, stop, num)
void ImportLinSpace(OperatorContext& c) {
  const auto count = c.Sizes(2, "num");
  if (!count || !c.CheckRank(0, 0, 1) || !c.CheckRank(1, 0, 1)) return;
  const Tensor start = Reshape(c.Input(0), {}), stop = Reshape(c.Input(1), {});
  const Tensor steps =
      Cast(DimScalar(c.builder(), LargerOf(count->front() - Dim(1), Dim(1))),
           start.dtype());
  const Tensor i = IotaVector(c.builder(), count->front(), start.dtype());
  c.SetOutput(0, start + i * ((stop - start) / steps));
}
void ImportInvertPermutation(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor place =
      Cast(IotaVector(c.builder(), x.dim(0), DType::kI64), x.dtype());
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(x.Like(0), x.shape()),
                        Unsqueeze(Cast(x, DType::kI64), {1}), place},
                       {{"update", std::string("assign")}}));
}

void ImportSum(OperatorContext& c) { SetReduced(c, "sum"); }
void ImportProd(OperatorContext& c) { SetReduced(c, "product"); }
void ImportMax(OperatorContext& c) { SetReduced(c, "maximum"); }
void ImportMin(OperatorContext& c) { SetReduced(c, "minimum"); }
void ImportAll(OperatorContext& c) { SetReducedBool(c, "minimum"); }
void ImportAny(OperatorContext& c) { SetReducedBool(c, "maximum"); }
void ImportMean(OperatorContext& c) {
  const auto axes = ReadAxes(c);
  if (axes) c.SetOutput(0, Mean(c.Input(0), *axes, KeepDims(c)));
}
void ImportEuclideanNorm(OperatorContext& c) {
  const auto axes = ReadAxes(c);
  if (!axes) return;
  const Tensor x = c.Input(0);
  c.SetOutput(0, Sqrt(Reduce(x * x, "sum", *axes, KeepDims(c))));
}
void ImportArgMax(OperatorContext& c) {
  c.SetOutputType(0, c.Type("output_type", DType::kI64));
  tf_common::ImportArgExtreme(c, "maximum");
}
void ImportArgMin(OperatorContext& c) {
  c.SetOutputType(0, c.Type("output_type", DType::kI64));
  tf_common::ImportArgExtreme(c, "minimum");
}

void ImportGatherV1(OperatorContext& c) { tf_common::ImportGather(c, 0, 0); }
void ImportGatherV2(OperatorContext& c) {
  const auto axis = c.ConstantIntegers(2, "axis");
  if (!axis || axis->size() != 1) return;
  tf_common::ImportGather(c, axis->front(), c.Integer("batch_dims", 0));
}
void ImportOneHot(OperatorContext& c) {
  tf_common::ImportOneHot(c, c.Integer("axis", -1));
}
void ImportTopKV2(OperatorContext& c) {
  c.SetOutputType(1, c.Type("index_type", DType::kI32));
  tf_common::ImportTopK(c);
}
void ImportTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const std::vector<Tensor> results =
      ApplyAll("top_k", {c.Input(0)},
               {{"axis", int64_t{c.Input(0).rank() - 1}},
                {"k", Shape{Dim(c.Integer("k", 1))}},
                {"largest", int64_t{1}}});
  if (results.size() != 2) return;
  c.SetOutput(0, results[0]);
  c.SetOutput(1, Cast(results[1], DType::kI32));
}
// Whether the target of each row is among its k highest. (predictions, targets,
// k)
void ImportInTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 1, 1)) return;
  int64_t k = c.Integer("k", 1);
  if (c.input_count() > 2) {
    const auto given = c.ConstantIntegers(2, "k");
    if (!given || given->size() != 1) return;
    k = given->front();
  }
  const Tensor x = c.Input(0);
  const Tensor targets = Unsqueeze(Cast(c.Input(1), DType::kI64), {1});
  const Tensor own =
      Apply("gather_elements", {x, targets}, {{"axis", int64_t{1}}});
  const Tensor above =
      Reduce(Cast(Less(own, x), DType::kI64), "sum", {1}, false);
  const Tensor finite = Not(Or(Unary(Opcode::kIsNan, own), IsInfinite(own)));
  c.SetOutput(0,
              And(Less(above, static_cast<double>(k)), Squeeze(finite, {1})));
}
void ImportWhere(OperatorContext& c) {
  c.SetOutputType(0, DType::kI64);
  tf_common::ImportWhere(c);
}
void ImportUnique(OperatorContext& c) {
  c.SetOutputType(1, c.Type("out_idx", DType::kI32));
  tf_common::ImportUnique(c);
}
void ImportUniqueWithCounts(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const DType type = c.Type("out_idx", DType::kI32);
  const std::vector<Tensor> results = ApplyAll(
      "unique", {Unsqueeze(c.Input(0), {1})},
      {{"defines", Shape{c.builder().FreshSymbol()}}, {"sorted", int64_t{0}}});
  if (results.size() != 4) return;
  c.SetOutput(0, Squeeze(results[0], {1}));
  c.SetOutput(1, Cast(results[2], type));
  c.SetOutput(2, Cast(results[3], type));
}
void ImportReverseSequence(OperatorContext& c) {
  tf_common::ImportReverseSequence(c, c.Integer("seq_dim", 0),
                                   c.Integer("batch_dim", 0));
}
void ImportCumsum(OperatorContext& c) {
  tf_common::ImportCumulative(c, Opcode::kAdd, 0, c.Flag("exclusive", false),
                              c.Flag("reverse", false));
}
void ImportCumprod(OperatorContext& c) {
  tf_common::ImportCumulative(c, Opcode::kMultiply, 1,
                              c.Flag("exclusive", false),
                              c.Flag("reverse", false));
}
void ImportBucketize(OperatorContext& c) {
  tf_common::ImportBucketize(c, c.Numbers("boundaries"));
}
// (sorted rows, values rows): how many are below (lower) or not above (upper).
void SetBound(OperatorContext& c, Opcode opcode) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  const Tensor sorted = Unsqueeze(c.Input(0), {1});
  const Tensor values = Unsqueeze(c.Input(1), {2});
  c.SetOutput(0, Cast(Reduce(Cast(Binary(opcode, sorted, values), DType::kI64),
                             "sum", {2}, false),
                      c.Type("out_type", DType::kI32)));
}
void ImportLowerBound(OperatorContext& c) { SetBound(c, Opcode::kLess); }
void ImportUpperBound(OperatorContext& c) { SetBound(c, Opcode::kLessEqual); }

void ImportSegmentSum(OperatorContext& c) {
  tf_common::ImportSegment(c, "add", 0);
}
void ImportSegmentProd(OperatorContext& c) {
  tf_common::ImportSegment(c, "multiply", 1);
}
// Segments that no row joins are 0.
void SetExtremeSegments(OperatorContext& c, bool highest) {
  const DType type = c.Input(0).dtype();
  tf_common::ImportSegment(c, highest ? "maximum" : "minimum",
                           tf_common::ExtremeOf(type, !highest));
  if (!c.ok() || !c.outputs()[0].tensor) return;
  const Tensor y = c.outputs()[0].tensor;
  const Tensor hit = Equal(Unsqueeze(Cast(c.Input(1), DType::kI64), {0}),
                           PlaceAlong(c, y.dim(0), 0, 2));
  const Tensor any =
      Reduce(Cast(hit, DType::kU8), "maximum", {1}, /*keep=*/false);
  c.SetOutput(
      0, Select(AlongAxis(Cast(any, DType::kBool), 0, y.rank()), y, y.Like(0)));
}
void ImportSegmentMax(OperatorContext& c) { SetExtremeSegments(c, true); }
void ImportSegmentMin(OperatorContext& c) { SetExtremeSegments(c, false); }
void ImportSegmentMean(OperatorContext& c) {
  tf_common::ImportSegment(c, "add", 0);
  if (!c.ok() || !c.outputs()[0].tensor) return;
  const Tensor y = c.outputs()[0].tensor;
  c.SetOutput(0,
              y / SegmentCounts(c, c.Input(1), y.dim(0), y.rank(), y.dtype()));
}
void ImportUnsortedSegmentSum(OperatorContext& c) {
  tf_common::ImportUnsortedSegment(c, "add", 0);
}
void ImportUnsortedSegmentProd(OperatorContext& c) {
  tf_common::ImportUnsortedSegment(c, "multiply", 1);
}
void ImportUnsortedSegmentMax(OperatorContext& c) {
  tf_common::ImportUnsortedSegment(
      c, "maximum", tf_common::ExtremeOf(c.Input(0).dtype(), false));
}
void ImportUnsortedSegmentMin(OperatorContext& c) {
  tf_common::ImportUnsortedSegment(
      c, "minimum", tf_common::ExtremeOf(c.Input(0).dtype(), true));
}
void ImportSparseSegmentSum(OperatorContext& c) {
  SetSparseSegments(c, false, false);
}
void ImportSparseSegmentMean(OperatorContext& c) {
  SetSparseSegments(c, true, false);
}
void ImportSparseSegmentSqrtN(OperatorContext& c) {
  SetSparseSegments(c, false, true);
}

void ImportTensorScatterUpdate(OperatorContext& c) {
  SetScattered(c, "assign", false);
}
void ImportTensorScatterAdd(OperatorContext& c) {
  SetScattered(c, "add", false);
}
void ImportTensorScatterSub(OperatorContext& c) {
  SetScattered(c, "add", true);
}
void ImportTensorScatterMax(OperatorContext& c) {
  SetScattered(c, "maximum", false);
}
void ImportTensorScatterMin(OperatorContext& c) {
  SetScattered(c, "minimum", false);
}

// (indices…, data…): rows to where the indices say, the last of each wins.
void ImportDynamicStitch(OperatorContext& c) {
  const int n = c.input_count() / 2;
  if (n < 1 || c.input_count() != 2 * n)
    return c.FailInvalid("expected as many indices as data");
  std::vector<Tensor> indices, rows;
  for (int i = 0; i < n; ++i) {
    const Tensor index = c.Input(i), data = c.Input(n + i);
    if (!c.ok()) return;
    if (index.rank() > data.rank())
      return c.FailInvalid("expected data with the dims of its indices");
    const Dim count = ElementCount(index.shape());
    Shape shape(data.shape().begin() + index.rank(), data.shape().end());
    shape.insert(shape.begin(), count);
    indices.push_back(Reshape(Cast(index, DType::kI64), {count}));
    rows.push_back(Reshape(data, shape));
  }
  const Tensor places = Concat(indices, 0), values = Concat(rows, 0);
  if (!c.ok()) return;
  const Tensor count = Reduce(places, "maximum", {0}, /*keep=*/true) + 1.0;
  const Shape extents = c.builder().Extents(Maximum(count, 0).value());
  if (!c.ok()) return;
  Shape shape = values.shape();
  shape[0] = extents.front();
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(values.Like(0), shape),
                        Unsqueeze(places, {1}), values},
                       {{"update", std::string("assign")}}));
}

// (data, partitions): rows by number of partition.
void ImportDynamicPartition(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const int64_t count = c.Integer("num_partitions", 1);
  c.SetOutputCount(count);
  const Tensor data = c.Input(0), parts = c.Input(1);
  if (!c.ok()) return;
  if (parts.rank() > data.rank())
    return c.FailInvalid("expected data with the dims of its partitions");
  const Dim rows = ElementCount(parts.shape());
  Shape shape(data.shape().begin() + parts.rank(), data.shape().end());
  shape.insert(shape.begin(), rows);
  const Tensor flat = Reshape(data, shape), ids = Reshape(parts, {rows});
  for (int64_t i = 0; i < count && c.ok(); ++i) {
    const Tensor chosen =
        Apply("non_zero", {Equal(ids, static_cast<double>(i))},
              {{"defines", Shape{c.builder().FreshSymbol()}}});
    if (c.ok()) c.SetOutput(static_cast<int>(i), Gather(flat, chosen, 0));
  }
}

// (x, size, weights): how often each number below the size occurs.
void ImportBincount(OperatorContext& c) {
  const bool dense = c.node().op == "DenseBincount";
  if (!c.CheckRank(0, 0, dense ? 2 : kMaximumRank)) return;
  const auto size = c.Sizes(1, "size");
  if (!size || size->size() != 1) return;
  Tensor x = Cast(c.Input(0), DType::kI64);
  const Tensor weights = c.Input(2);
  const bool weighted =
      ElementCount(weights.shape()) != Dim(0) && weights.rank() > 0;
  const bool rows = dense && x.rank() == 2;
  if (!rows) x = Reshape(x, {ElementCount(x.shape())});
  const Tensor hit =
      Equal(Unsqueeze(x, {x.rank()}),
            PlaceAlong(c, size->front(), x.rank(), x.rank() + 1));
  const Tensor amount =
      weighted ? Select(hit, Unsqueeze(Reshape(weights, x.shape()), {x.rank()}),
                        weights.Like(0))
               : Cast(hit, weights.dtype());
  if (dense && c.Flag("binary_output", false)) {
    return c.SetOutput(
        0, Cast(Reduce(Cast(hit, DType::kU8), "maximum", {x.rank() - 1}, false),
                weights.dtype()));
  }
  c.SetOutput(0, Reduce(amount, "sum", {x.rank() - 1}, false));
}

// The band of diagonals from -lower to upper; negative: all on that side.
void ImportMatrixBandPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const auto lower = c.ConstantIntegers(1, "num_lower");
  const auto upper = c.ConstantIntegers(2, "num_upper");
  if (!lower || !upper || lower->size() != 1 || upper->size() != 1) return;
  const Tensor x = c.Input(0), diagonal = DiagonalOf(c, x);
  Tensor inside;
  if (lower->front() >= 0)
    inside = LessEqual(-static_cast<double>(lower->front()), diagonal);
  if (upper->front() >= 0) {
    const Tensor below =
        LessEqual(diagonal, static_cast<double>(upper->front()));
    inside = inside ? And(inside, below) : below;
  }
  c.SetOutput(0, inside ? Select(inside, x, x.Like(0)) : x);
}
void ImportMatrixDiagPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  int64_t k = 0;
  if (c.input_count() > 1) {
    const auto given = OneDiagonal(c, 1);
    if (!given) return;
    k = *given;
  }
  c.SetOutput(0, Diagonal(c, c.Input(0), k));
}
// (diagonal, k, rows, columns, padding)
void ImportMatrixDiagV2(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaximumRank - 1)) return;
  const auto k = OneDiagonal(c, 1);
  const auto rows = c.ConstantIntegers(2, "num_rows");
  const auto columns = c.ConstantIntegers(3, "num_cols");
  if (!k || !rows || !columns || rows->size() != 1 || columns->size() != 1)
    return;
  const Tensor x = c.Input(0);
  const int rank = x.rank() + 1;
  const Dim length = x.dim(-1);
  const Dim above(*k > 0 ? *k : 0), below(*k < 0 ? -*k : 0);
  // A square where nothing is given, else as small as may be.
  const bool square = rows->front() < 0 && columns->front() < 0;
  const Dim height = square              ? length + above + below
                     : rows->front() < 0 ? length + below
                                         : Dim(rows->front());
  const Dim width = square                 ? height
                    : columns->front() < 0 ? length + above
                                           : Dim(columns->front());
  // Row i of the result holds element i - below, at column i - below + above.
  Shape low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
  low.back() = below;
  high.back() = height - below - length;
  const Tensor padded = Pad(x, low, high, "constant", x.Like(0));
  const Tensor row = PlaceAlong(c, height, rank - 2, rank);
  const Tensor column = PlaceAlong(c, width, rank - 1, rank);
  const Tensor first = DimScalar(c.builder(), below);
  const Tensor last = DimScalar(c.builder(), below + length - Dim(1));
  const Tensor on = And(And(LessEqual(first, row), LessEqual(row, last)),
                        Equal(column - row, static_cast<double>(*k)));
  c.SetOutput(
      0, Select(on, Unsqueeze(padded, {rank - 1}), Reshape(c.Input(4), {})));
}
void ImportMatrixSetDiagV2(OperatorContext& c) {
  const auto k = OneDiagonal(c, 2);
  if (!k) return;
  if (*k != 0) return c.FailUnsupported("k: expected 0");
  tf_common::ImportMatrixSetDiag(c);
}
// [n…] to [n…, n…], of which the result has elements where both parts agree.
void ImportDiag(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaximumRank / 2)) return;
  const Tensor x = c.Input(0);
  const Dim count = ElementCount(x.shape());
  const Tensor eye =
      Equal(PlaceAlong(c, count, 0, 2), PlaceAlong(c, count, 1, 2));
  const Tensor flat = Reshape(x, {count, Dim(1)});
  Shape shape = x.shape();
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  c.SetOutput(0, Reshape(Select(eye, flat, x.Like(0)), shape));
}
void ImportDiagPart(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor x = c.Input(0);
  if (x.rank() % 2 != 0) return c.FailInvalid("expected an even rank");
  const Shape half(x.shape().begin(), x.shape().begin() + x.rank() / 2);
  const Dim count = ElementCount(half);
  c.SetOutput(0, Reshape(Diagonal(c, Reshape(x, {count, count}), 0), half));
}

// Windows of an image as rows of channels: (images)
void ImportExtractImagePatches(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const auto sizes = c.Integers("ksizes", {}),
             steps = c.Integers("strides", {}),
             rates = c.Integers("rates", {1, 1, 1, 1});
  if (sizes.size() != 4 || steps.size() != 4 || rates.size() != 4)
    return c.FailInvalid("expected ksizes, strides and rates of 4 values");
  for (int i = 1; i < 3; ++i) {
    if (!c.CheckPositive("ksizes", sizes[i]) ||
        !c.CheckPositive("strides", steps[i]) ||
        !c.CheckPositive("rates", rates[i]))
      return;
  }
  if (sizes[1] * sizes[2] > 1024)
    return c.FailUnsupported("expected a window of at most 1024 elements");
  ops::Window window = ops::WindowOf({sizes[1], sizes[2]});
  window.strides = {steps[1], steps[2]};
  window.dilations = {rates[1], rates[2]};
  Tensor x = c.Input(0);
  if (c.Text("padding", "VALID") == "SAME") {
    ops::PadSame({x.dim(1), x.dim(2)}, /*upper=*/true, window);
    x = Pad(x, {Dim(0), window.low[0], window.low[1], Dim(0)},
            {Dim(0), window.high[0], window.high[1], Dim(0)}, "constant",
            x.Like(0));
  }
  Shape extents;
  for (int i = 0; i < 2; ++i) {
    extents.push_back(FloorDivide(x.dim(i + 1) - Dim(window.Reach(i)),
                                  Dim(window.strides[i])) +
                      Dim(1));
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < sizes[1] && c.ok(); ++i) {
    for (int64_t j = 0; j < sizes[2] && c.ok(); ++j) {
      parts.push_back(
          Slice(x, {Dim(0), Dim(i * rates[1]), Dim(j * rates[2]), Dim(0)},
                {1, steps[1], steps[2], 1},
                {x.dim(0), extents[0], extents[1], x.dim(3)}));
    }
  }
  if (c.ok()) c.SetOutput(0, Concat(parts, 3));
}

}  // namespace ember::tensorflow
