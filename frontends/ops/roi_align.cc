#include "frontends/ops/roi_align.h"

#include <limits>

#include "frontends/ops/compositions.h"
#include "frontends/ops/regions.h"

namespace ember::ops {
namespace {

// One spatial axis of RoiAlign. Along it each region is divided into `bins`
// bins, and the feature map is sampled at `grid` evenly spaced positions of
// each bin.
struct BinAxis {
  Dim extent;    // Extent of the feature map.
  Dim bins;      // number per region
  Tensor start;  // Start of each region, [regions], in elements of the map.
  // Size of a bin of each region, [regions], in elements of the map.
  Tensor bin;
  Tensor grid;  // Number of samples per bin of each region, [regions].

  DType type() const { return start.dtype(); }
  graph::GraphBuilder& builder() const { return start.builder(); }
};

BinAxis MakeBinAxis(const RoiAlignSpec& spec, const Dim& extent, int64_t bins,
                    Tensor low, Tensor high) {
  const double offset = spec.half_pixel ? 0.5 : 0;
  BinAxis axis;
  axis.extent = extent;
  axis.bins = Dim(bins);
  axis.start = low * spec.scale - offset;
  Tensor size = high * spec.scale - offset - axis.start;
  if (!spec.half_pixel) size = Maximum(size, 1);
  axis.bin = size / static_cast<double>(bins);
  axis.grid = spec.samples > 0
                  ? axis.bin.Like(static_cast<double>(spec.samples))
                  : Ceil(axis.bin);
  return axis;
}

Tensor ExtentScalar(const BinAxis& axis) {
  return Cast(DimScalar(axis.builder(), axis.extent), axis.type());
}

// Reshapes [regions] to [regions, 1, …] of rank `rank`.
Tensor PerRegion(Tensor vector, int rank) { return AlongAxis(vector, 0, rank); }

// Returns the position, in elements of the map, of a sample of each bin.
// sample: number of the sample in its bin, [regions or 1, bins or 1, …].
Tensor SamplePosition(const BinAxis& axis, Tensor sample) {
  const int rank = sample.rank();
  Tensor number =
      AlongAxis(IotaVector(axis.builder(), axis.bins, axis.type()), 1, rank);
  Tensor bin = PerRegion(axis.bin, rank);
  Tensor grid = axis.grid.rank() == 0 ? axis.grid : PerRegion(axis.grid, rank);
  return PerRegion(axis.start, rank) + number * bin +
         (sample + 0.5) * bin / grid;
}

// The two elements around each sample, and their weights. A sample up to one
// element outside of the map reads the border of the map; farther outside it
// reads 0.
struct SampleCorners {
  Tensor outside;
  Tensor low, high;
  Tensor low_weight, high_weight;
};

SampleCorners CornersAt(const BinAxis& axis, Tensor position) {
  Tensor extent = ExtentScalar(axis);
  Tensor last = extent - 1.0;
  SampleCorners corners;
  corners.outside = Or(Less(position, -1), Less(extent, position));
  Tensor inside = Maximum(position, 0);
  corners.low = Minimum(Floor(inside), last);
  Tensor at_end = LessEqual(last, corners.low);
  corners.high = Select(at_end, corners.low, corners.low + 1.0);
  corners.high_weight = Select(at_end, inside.Like(0), inside - corners.low);
  corners.low_weight = 1.0 - corners.high_weight;
  return corners;
}

// The elements that the samples of a bin read along one axis: two neighbours
// (corners) per sample, with their weights. It is used if the number of samples
// is fixed.
struct CornerList {
  // Index of each corner along the axis, i64 [regions, bins, corners].
  Tensor index;
  // Weight of each corner, [regions, bins, corners]; 0 outside of the map.
  Tensor weight;
};

CornerList ListCorners(const BinAxis& axis, int64_t samples) {
  Tensor sample =
      AlongAxis(IotaVector(axis.builder(), Dim(samples), axis.type()), 2, 3);
  const SampleCorners at = CornersAt(axis, SamplePosition(axis, sample));
  auto inside = [&](Tensor x) { return Select(at.outside, x.Like(0), x); };
  CornerList list;
  list.index = Cast(Concat({inside(at.low), inside(at.high)}, 2), DType::kI64);
  list.weight = Concat({inside(at.low_weight), inside(at.high_weight)}, 2);
  return list;
}

// Returns the pooled regions, [regions, bins of y, bins of x, channels], if the
// number of samples is fixed: gathers the corners of all samples.
Tensor PoolListedCorners(const RoiAlignSpec& spec, Tensor x, Tensor batch,
                         const BinAxis axes[2]) {
  const int64_t samples = spec.samples;
  const CornerList by_y = ListCorners(axes[0], samples);
  const CornerList by_x = ListCorners(axes[1], samples);
  // The map becomes a matrix for the gather: each row holds the channels of a
  // pixel, and the pixels of all images are numbered consecutively.
  Tensor rows = Reshape(Transpose(x, {0, 2, 3, 1}),
                        {x.dim(0) * x.dim(2) * x.dim(3), x.dim(1)});
  Tensor row = AlongAxis(batch, 0, 5) * DimScalar(x.builder(), x.dim(2)) +
               Unsqueeze(by_y.index, {2, 4});
  Tensor index =
      row * DimScalar(x.builder(), x.dim(3)) + Unsqueeze(by_x.index, {1, 3});
  Tensor weight =
      Unsqueeze(by_y.weight, {2, 4}) * Unsqueeze(by_x.weight, {1, 3});
  Tensor weighted = Gather(rows, index, 0) * Unsqueeze(weight, {5});
  if (spec.maximum) return Reduce(weighted, "maximum", {3, 4}, false);
  return Reduce(weighted, "sum", {3, 4}, false) /
         static_cast<double>(samples * samples);
}

// The weights of the map's elements along one axis, used if the number of
// samples depends on the region. An element's weight in a bin is the sum of the
// weights that the samples near it give it. It is the same for every row (or
// column) of the map, so the sum over samples becomes a sum over elements.
// Samples, if there are several, are at least half an element apart, so only a
// few are near an element.
struct ElementWeights {
  Tensor sum;  // [regions, bins, elements]
  // Largest and smallest weight that a sample of the bin gives to the element;
  // -1 and 2 if no sample reads it. They are for bins that are maxima.
  Tensor largest, smallest;
  // True if some sample of the bin lies outside of the map, [regions, bins].
  Tensor outside;
};

ElementWeights WeighElements(const BinAxis& axis) {
  constexpr int kNearSamples = 9;
  const DType type = axis.type();
  Tensor element =
      AlongAxis(IotaVector(axis.builder(), axis.extent, type), 2, 4);
  Tensor number = AlongAxis(IotaVector(axis.builder(), axis.bins, type), 1, 4);
  Tensor bin = PerRegion(axis.bin, 4);
  Tensor grid = PerRegion(axis.grid, 4);
  Tensor start = PerRegion(axis.start, 4) + number * bin;
  // For each element, kNearSamples samples are tested. `first` is the first
  // sample that can be near the element, at least 0.
  Tensor first = Floor((element - 2.0 - start) * grid / bin - 1.5);
  first = Maximum(Minimum(first, grid - static_cast<double>(kNearSamples)), 0);
  Tensor sample =
      first +
      AlongAxis(IotaVector(axis.builder(), Dim(kNearSamples), type), 3, 4);
  const SampleCorners at = CornersAt(axis, SamplePosition(axis, sample));
  Tensor counts = And(Less(sample, grid), Not(at.outside));
  Tensor is_low = And(counts, Equal(at.low, element));
  Tensor is_high = And(counts, Equal(at.high, element));
  auto reduce = [](const char* combiner, Tensor low, Tensor high, Opcode join) {
    return Reduce(Binary(join, low, high), combiner, {3}, false);
  };
  auto pick = [](Tensor condition, Tensor weight, double otherwise) {
    return Select(condition, weight, weight.Like(otherwise));
  };
  ElementWeights weights;
  weights.sum = reduce("sum", pick(is_low, at.low_weight, 0),
                       pick(is_high, at.high_weight, 0), Opcode::kAdd);
  weights.largest = reduce("maximum", pick(is_low, at.low_weight, -1),
                           pick(is_high, at.high_weight, -1), Opcode::kMaximum);
  weights.smallest = reduce("minimum", pick(is_low, at.low_weight, 2),
                            pick(is_high, at.high_weight, 2), Opcode::kMinimum);
  // Some sample lies outside of the map exactly if the first or the last one
  // does.
  auto is_outside = [&](Tensor position) {
    return Or(Less(position, -1), Less(ExtentScalar(axis), position));
  };
  Tensor last = Unsqueeze(PerRegion(axis.grid, 1), {1}) - 1.0;
  weights.outside =
      And(LessEqual(0, last), Or(is_outside(SamplePosition(axis, last * 0.0)),
                                 is_outside(SamplePosition(axis, last))));
  return weights;
}

// Returns the largest product, along the last dim, of values [r, c, a, n] and
// weights [r, b, n], among the values that are not negative or, if `negative`,
// among the negative values.
Tensor LargestProduct(Tensor values, Tensor weights, bool negative) {
  Tensor lowest = values.Like(-std::numeric_limits<double>::infinity());
  Tensor value = Unsqueeze(values, {3});
  Tensor weight = Unsqueeze(weights, {1, 2});
  Tensor counts = negative ? And(And(Less(value, 0), Less(lowest, value)),
                                 LessEqual(weight, 1))
                           : And(LessEqual(0, value), LessEqual(0, weight));
  return Reduce(Select(counts, value * weight, lowest), "maximum", {4}, false);
}

// Returns the largest weighted corner of all samples, [regions, channels, y,
// x]. As in the reference implementation, the corners of a sample are not
// summed first. For an element below 0 the smallest weight gives the largest
// product.
Tensor LargestWeighted(Tensor maps, const ElementWeights& y,
                       const ElementWeights& x) {
  Tensor columns = Transpose(maps, {0, 1, 3, 2});
  auto pool = [&](Tensor y_weights, Tensor x_weights, bool negative) {
    Tensor rows =
        Transpose(LargestProduct(columns, y_weights, negative), {0, 1, 3, 2});
    return LargestProduct(rows, x_weights, negative);
  };
  Tensor largest = Maximum(pool(y.largest, x.largest, false),
                           pool(y.smallest, x.smallest, true));
  // A sample outside of the map counts as 0 in the maximum, and so does a bin
  // without samples.
  Tensor outside = Or(Unsqueeze(y.outside, {2}), Unsqueeze(x.outside, {1}));
  Tensor at_least_zero =
      Or(Unsqueeze(outside, {1}),
         Equal(largest, -std::numeric_limits<double>::infinity()));
  return Select(at_least_zero, Maximum(largest, 0), largest);
}

// Returns the pooled regions, [regions, channels, bins of y, bins of x], from
// the weights of elements.
Tensor PoolElements(const RoiAlignSpec& spec, Tensor x, Tensor batch,
                    const BinAxis axes[2]) {
  const ElementWeights y_weights = WeighElements(axes[0]);
  const ElementWeights x_weights = WeighElements(axes[1]);
  const bool is_single = x.dim(0) == Dim(1);
  if (spec.maximum) {
    return LargestWeighted(is_single ? x : Gather(x, batch, 0), y_weights,
                           x_weights);
  }
  // If all regions are in one image, the pooling is a single product of
  // matrices; otherwise the image of each region is gathered first.
  Tensor rows =
      is_single
          ? Contract(y_weights.sum, Squeeze(x, {0}), "rph,chw->rcpw")
          : Contract(y_weights.sum, Gather(x, batch, 0), "rph,rchw->rcpw");
  Tensor sum = Contract(rows, x_weights.sum, "rcpw,rqw->rcpq");
  Tensor count = Maximum(axes[0].grid, 1) * Maximum(axes[1].grid, 1);
  return sum / PerRegion(count, 4);
}

}  // namespace

Tensor RoiAlign(Tensor x, Tensor rois, Tensor batch, const RoiAlignSpec& spec) {
  BinAxis axes[2];
  // Axis 0 is y and axis 1 is x, but the columns of `rois` are x1, y1, x2, y2.
  for (int i = 0; i < 2; ++i) {
    axes[i] = MakeBinAxis(spec, x.dim(2 + i), spec.bins[static_cast<size_t>(i)],
                          Column(rois, 1 - i), Column(rois, 3 - i));
  }
  return spec.samples > 0
             ? Transpose(PoolListedCorners(spec, x, batch, axes), {0, 3, 1, 2})
             : PoolElements(spec, x, batch, axes);
}

// Returns the mean of each bin of a region. Each bin reads a channel of its
// own.
Tensor PositionSensitivePool(Tensor x, Tensor rois,
                             const PositionSensitiveSpec& spec) {
  const int64_t bins = spec.bins;
  // Returns float [R, bins, extent] for an axis: 1 if the element belongs to
  // the bin.
  const auto members = [&](int axis, int first, int last) {
    const auto corner = [&](int column) {
      const Tensor at = Column(rois, column);
      return spec.whole ? RoundAway(at * spec.scale) : RoundAway(at);
    };
    const Tensor low = spec.whole ? corner(first) : corner(first) * spec.scale;
    const Tensor high =
        spec.whole ? corner(last) : (corner(last) + 1.0) * spec.scale;
    const Tensor size = Unsqueeze(
        Maximum(high - low, spec.whole ? 1 : 0.1) / static_cast<double>(bins),
        {1});
    const Tensor number =
        AlongAxis(IotaVector(x.builder(), Dim(bins), DType::kF32), 1, 2);
    Tensor start = Floor(number * size + Unsqueeze(low, {1}));
    Tensor end = Ceil((number + 1.0) * size + Unsqueeze(low, {1}));
    if (spec.whole) {
      const Tensor most =
          Cast(DimScalar(x.builder(), x.dim(axis) - Dim(1)), DType::kF32);
      start = Minimum(start, most);
      end = Minimum(end, most);
    }
    const Tensor element =
        AlongAxis(IotaVector(x.builder(), x.dim(axis), DType::kF32), 2, 3);
    return Cast(And(LessEqual(Unsqueeze(start, {2}), element),
                    Less(element, Unsqueeze(end, {2}))),
                DType::kF32);
  };
  const Tensor rows = members(2, 2, 4), columns = members(3, 1, 3);
  const Tensor maps =
      Gather(Reshape(x, {x.dim(0), Dim(spec.channels), Dim(bins), Dim(bins),
                         x.dim(2), x.dim(3)}),
             Cast(Column(rois, 0), DType::kI64), 0);
  // A bin is a rectangle, so its sum is computed over its rows first, then over
  // its columns.
  const Tensor by_rows =
      Reduce(maps * Unsqueeze(rows, {1, 3, 5}), "sum", {4}, /*keep=*/false);
  const Tensor sums =
      Reduce(by_rows * Unsqueeze(columns, {1, 2}), "sum", {4}, /*keep=*/false);
  const Tensor area =
      Unsqueeze(Unsqueeze(Reduce(rows, "sum", {2}, false), {2}) *
                    Unsqueeze(Reduce(columns, "sum", {2}, false), {1}),
                {1});
  return Select(Less(0, area), sums / Maximum(area, 1), sums.Like(0));
}

}  // namespace ember::ops
