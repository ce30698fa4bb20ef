// Imports operators that combine elements along dims, and by segments.
#include "frontends/tf_common/reduction.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

bool KeepDims(OperatorContext& c) {
  return c.Flag("keep_dims", c.Flag("keepdims", false));
}

// Returns the number of elements of each segment, or 1 for an empty segment (so
// that it can be divided by). The result lies along the first of `rank` dims.
Tensor SegmentCounts(OperatorContext& c, Tensor ids, const Dim& segments,
                     int rank, DType type) {
  const Tensor hit = Equal(Unsqueeze(Cast(ids, DType::kI64), {0}),
                           IndexAlong(c, segments, 0, 2));
  const Tensor count = Reduce(Cast(hit, DType::kI32), "sum", {1}, false);
  return AlongAxis(Cast(Maximum(count, 1), type), 0, rank);
}

// Sets the sum, mean or sum / sqrt(count) of the rows of each segment, where
// the rows are looked up in a table. Operands: (data, indices, segment ids[,
// count]).
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

void ImportSum(OperatorContext& c) {
  tf_common::ImportReduced(c, "sum", KeepDims(c));
}
void ImportProd(OperatorContext& c) {
  tf_common::ImportReduced(c, "product", KeepDims(c));
}
void ImportMax(OperatorContext& c) {
  tf_common::ImportReduced(c, "maximum", KeepDims(c));
}
void ImportMin(OperatorContext& c) {
  tf_common::ImportReduced(c, "minimum", KeepDims(c));
}
void ImportAll(OperatorContext& c) {
  tf_common::ImportReducedBool(c, "minimum", KeepDims(c));
}
void ImportAny(OperatorContext& c) {
  tf_common::ImportReducedBool(c, "maximum", KeepDims(c));
}
void ImportMean(OperatorContext& c) {
  const auto axes = tf_common::ReducedAxes(c);
  if (axes) c.SetOutput(0, Mean(c.Input(0), *axes, KeepDims(c)));
}
void ImportEuclideanNorm(OperatorContext& c) {
  const auto axes = tf_common::ReducedAxes(c);
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

void ImportSegmentSum(OperatorContext& c) {
  tf_common::ImportSegment(c, "add", c.Input(0).Like(0));
}
void ImportSegmentProd(OperatorContext& c) {
  tf_common::ImportSegment(c, "multiply", c.Input(0).Like(1));
}
// Sets the maximum or minimum of the rows of each segment, and 0 for segments
// without rows.
void SetExtremeSegments(OperatorContext& c, bool highest) {
  // The reduction of floats starts at an infinity and not at the extreme finite
  // number, because elements may be infinite.
  const Tensor x = c.Input(0);
  const double infinity = std::numeric_limits<double>::infinity();
  tf_common::ImportSegment(c, highest ? "maximum" : "minimum",
                           x.is_float() ? x.Like(highest ? -infinity : infinity)
                                        : tf_common::ExtremeLike(x, !highest));
  if (!c.ok() || !c.outputs()[0].tensor) return;
  const Tensor y = c.outputs()[0].tensor;
  const Tensor hit = Equal(Unsqueeze(Cast(c.Input(1), DType::kI64), {0}),
                           IndexAlong(c, y.dim(0), 0, 2));
  const Tensor any =
      Reduce(Cast(hit, DType::kU8), "maximum", {1}, /*keep=*/false);
  c.SetOutput(
      0, Select(AlongAxis(Cast(any, DType::kBool), 0, y.rank()), y, y.Like(0)));
}
void ImportSegmentMax(OperatorContext& c) { SetExtremeSegments(c, true); }
void ImportSegmentMin(OperatorContext& c) { SetExtremeSegments(c, false); }
void ImportSegmentMean(OperatorContext& c) {
  tf_common::ImportSegment(c, "add", c.Input(0).Like(0));
  if (!c.ok() || !c.outputs()[0].tensor) return;
  const Tensor y = c.outputs()[0].tensor;
  c.SetOutput(0,
              y / SegmentCounts(c, c.Input(1), y.dim(0), y.rank(), y.dtype()));
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

// Imports Bincount and DenseBincount, which count how often each number below
// the size occurs, or sum its weights; DenseBincount does so for each row of a
// matrix, or with binary_output only says if the number occurs. Operands: (x,
// size, weights).
void ImportBincount(OperatorContext& c) {
  const bool dense = c.node().op == "DenseBincount";
  if (!c.CheckRank(0, 0, dense ? 2 : kMaxRank)) return;
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
            IndexAlong(c, size->front(), x.rank(), x.rank() + 1));
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

}  // namespace ember::tensorflow
