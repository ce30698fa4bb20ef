// RoiAlign: regions of interest, sampled with interpolation (He et al. 2017,
// "Mask R-CNN").
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operator_table.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

// Column `index` of the regions, [regions].
Tensor Column(Tensor rois, int index) {
  return Squeeze(SliceAxis(rois, 1, Dim(index), Dim(1)), {1});
}

Tensor ExtentScalar(NodeContext& c, const Dim& extent, DType type) {
  return Cast(DimScalar(c.builder(), extent), type);
}

struct RoiAlignOptions {
  bool maximum = false;
  bool half_pixel = false;
  int64_t sampling_ratio = 0;  // 0: as many samples as a bin has elements
  double scale = 1;
};

// One spatial axis of RoiAlign: `bins` per region, in each of which the
// feature map is sampled at `grid` evenly spaced positions.
struct BinAxis {
  Dim extent;    // of the feature map
  Dim bins;      // per region
  Tensor start;  // of the region, [regions], in elements of the map
  Tensor bin;    // size of a bin, [regions]
  Tensor grid;   // samples per bin, [regions], a whole number

  DType type() const { return start.dtype(); }
};

BinAxis MakeBinAxis(const RoiAlignOptions& options, const Dim& extent,
                    int64_t bins, Tensor low, Tensor high) {
  const double offset = options.half_pixel ? 0.5 : 0;
  BinAxis axis;
  axis.extent = extent;
  axis.bins = Dim(bins);
  axis.start = low * options.scale - offset;
  Tensor size = high * options.scale - offset - axis.start;
  if (!options.half_pixel) size = Maximum(size, 1);
  axis.bin = size / static_cast<double>(bins);
  axis.grid = options.sampling_ratio > 0
                  ? axis.bin.Like(static_cast<double>(options.sampling_ratio))
                  : Ceil(axis.bin);
  return axis;
}

// [regions] as [regions, 1, …] of rank `rank`.
Tensor PerRegion(Tensor vector, int rank) { return AlongAxis(vector, 0, rank); }

// Position of sample `sample` ([regions or 1, bins or 1, …]) of each bin.
Tensor SamplePosition(NodeContext& c, const BinAxis& axis, Tensor sample) {
  const int rank = sample.rank();
  Tensor number =
      AlongAxis(IotaVector(c.builder(), axis.bins, axis.type()), 1, rank);
  Tensor bin = PerRegion(axis.bin, rank);
  Tensor grid = axis.grid.rank() == 0 ? axis.grid : PerRegion(axis.grid, rank);
  return PerRegion(axis.start, rank) + number * bin +
         (sample + 0.5) * bin / grid;
}

// The two elements around each sample, and what they weigh. Positions up to one
// element outside the map count as its border, those farther out as 0.
struct Corners {
  Tensor outside;
  Tensor low, high;
  Tensor low_weight, high_weight;
};

Corners CornersAt(NodeContext& c, const BinAxis& axis, Tensor position) {
  Tensor extent = ExtentScalar(c, axis.extent, axis.type());
  Tensor last = extent - 1.0;
  Corners corners;
  corners.outside = Or(Less(position, -1), Less(extent, position));
  Tensor inside = Maximum(position, 0);
  corners.low = Minimum(Floor(inside), last);
  Tensor at_end = LessEqual(last, corners.low);
  corners.high = Select(at_end, corners.low, corners.low + 1.0);
  corners.high_weight = Select(at_end, inside.Like(0), inside - corners.low);
  corners.low_weight = 1.0 - corners.high_weight;
  return corners;
}

// A fixed number of samples: the corners of all samples of a bin, which are
// looked up one by one.
struct CornerList {
  Tensor index;   // [regions, bins, corners], i64
  Tensor weight;  // the same; 0 outside
};

CornerList ListCorners(NodeContext& c, const BinAxis& axis, int64_t samples) {
  Tensor sample =
      AlongAxis(IotaVector(c.builder(), Dim(samples), axis.type()), 2, 3);
  const Corners at = CornersAt(c, axis, SamplePosition(c, axis, sample));
  auto inside = [&](Tensor x) { return Select(at.outside, x.Like(0), x); };
  CornerList list;
  list.index = Cast(Concat({inside(at.low), inside(at.high)}, 2), DType::kI64);
  list.weight = Concat({inside(at.low_weight), inside(at.high_weight)}, 2);
  return list;
}

// [regions, bins of y, bins of x, channels].
Tensor PoolListedCorners(NodeContext& c, const RoiAlignOptions& options,
                         Tensor x, Tensor batch, const BinAxis axes[2]) {
  const int64_t samples = options.sampling_ratio;
  const CornerList by_y = ListCorners(c, axes[0], samples);
  const CornerList by_x = ListCorners(c, axes[1], samples);
  // Rows of channels, numbered through the batch.
  Tensor rows = Reshape(Transpose(x, {0, 2, 3, 1}),
                        {x.dim(0) * x.dim(2) * x.dim(3), x.dim(1)});
  Tensor row = AlongAxis(batch, 0, 5) * DimScalar(c.builder(), x.dim(2)) +
               Unsqueeze(by_y.index, {2, 4});
  Tensor index =
      row * DimScalar(c.builder(), x.dim(3)) + Unsqueeze(by_x.index, {1, 3});
  Tensor weight =
      Unsqueeze(by_y.weight, {2, 4}) * Unsqueeze(by_x.weight, {1, 3});
  Tensor weighted = Gather(rows, index, 0) * Unsqueeze(weight, {5});
  if (options.maximum) return Reduce(weighted, "maximum", {3, 4}, false);
  return Reduce(weighted, "sum", {3, 4}, false) /
         static_cast<double>(samples * samples);
}

// As many samples as the region asks for. What they sum up to is the same for
// every row (and column) of the map, so that the sum over samples becomes one
// over elements: each element's weight is what the samples near it give it.
// Samples are at least half an element apart where there are several of them,
// so those around an element fit into a short list.
struct ElementWeights {
  Tensor sum;  // [regions, bins, elements]
  // Of the samples that have the element as a corner; -1 and 2 without one.
  Tensor largest, smallest;
  Tensor outside;  // [regions, bins]: some sample lies outside the map
};

ElementWeights WeighElements(NodeContext& c, const BinAxis& axis) {
  constexpr int kNearSamples = 9;
  const DType type = axis.type();
  Tensor element = AlongAxis(IotaVector(c.builder(), axis.extent, type), 2, 4);
  Tensor number = AlongAxis(IotaVector(c.builder(), axis.bins, type), 1, 4);
  Tensor bin = PerRegion(axis.bin, 4);
  Tensor grid = PerRegion(axis.grid, 4);
  Tensor start = PerRegion(axis.start, 4) + number * bin;
  // The first sample that can be near; without room below, sample 0.
  Tensor first = Floor((element - 2.0 - start) * grid / bin - 1.5);
  first = Maximum(Minimum(first, grid - static_cast<double>(kNearSamples)), 0);
  Tensor sample =
      first + AlongAxis(IotaVector(c.builder(), Dim(kNearSamples), type), 3, 4);
  const Corners at = CornersAt(c, axis, SamplePosition(c, axis, sample));
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
  // The outermost samples decide.
  auto is_outside = [&](Tensor position) {
    return Or(Less(position, -1),
              Less(ExtentScalar(c, axis.extent, type), position));
  };
  Tensor last = Unsqueeze(PerRegion(axis.grid, 1), {1}) - 1.0;
  weights.outside = And(LessEqual(0, last),
                        Or(is_outside(SamplePosition(c, axis, last * 0.0)),
                           is_outside(SamplePosition(c, axis, last))));
  return weights;
}

// The largest product along the last dim of values [r, c, a, n] and weights
// [r, b, n]: of those that are not negative, or of those that are.
Tensor LargestProduct(Tensor values, Tensor weights, bool negative) {
  Tensor lowest = values.Like(-std::numeric_limits<double>::infinity());
  Tensor value = Unsqueeze(values, {3});
  Tensor weight = Unsqueeze(weights, {1, 2});
  Tensor counts = negative ? And(And(Less(value, 0), Less(lowest, value)),
                                 LessEqual(weight, 1))
                           : And(LessEqual(0, value), LessEqual(0, weight));
  return Reduce(Select(counts, value * weight, lowest), "maximum", {4}, false);
}

// The largest weighted corner of all samples, as the reference implementation
// has it: corners are not summed first. Of an element below 0 it is the
// smallest weight that makes it largest. [regions, channels, y, x].
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
  // Samples outside the map are 0, and so are bins without samples.
  Tensor outside = Or(Unsqueeze(y.outside, {2}), Unsqueeze(x.outside, {1}));
  Tensor at_least_zero =
      Or(Unsqueeze(outside, {1}),
         Equal(largest, -std::numeric_limits<double>::infinity()));
  return Select(at_least_zero, Maximum(largest, 0), largest);
}

// [regions, channels, bins of y, bins of x].
Tensor PoolElements(NodeContext& c, const RoiAlignOptions& options, Tensor x,
                    Tensor batch, const BinAxis axes[2]) {
  const ElementWeights y_weights = WeighElements(c, axes[0]);
  const ElementWeights x_weights = WeighElements(c, axes[1]);
  const bool is_single = x.dim(0) == Dim(1);
  if (options.maximum) {
    return LargestWeighted(is_single ? x : Gather(x, batch, 0), y_weights,
                           x_weights);
  }
  // All regions of one map are one product of matrices.
  Tensor rows =
      is_single
          ? Contract(y_weights.sum, Squeeze(x, {0}), "rph,chw->rcpw")
          : Contract(y_weights.sum, Gather(x, batch, 0), "rph,rchw->rcpw");
  Tensor sum = Contract(rows, x_weights.sum, "rcpw,rqw->rcpq");
  Tensor count = Maximum(axes[0].grid, 1) * Maximum(axes[1].grid, 1);
  return sum / PerRegion(count, 4);
}

std::optional<RoiAlignOptions> ReadRoiAlignOptions(NodeContext& c) {
  RoiAlignOptions options;
  const std::string mode = c.String("mode", "avg");
  const std::string transformation =
      c.String("coordinate_transformation_mode",
               c.opset() < 16 ? "output_half_pixel" : "half_pixel");
  options.maximum = mode == "max";
  options.half_pixel = transformation == "half_pixel";
  options.sampling_ratio = c.Integer("sampling_ratio", 0);
  options.scale = c.Float("spatial_scale", 1);
  if (mode != "avg" && mode != "max") {
    c.FailInvalid("attribute 'mode': expected avg or max, found '" + mode +
                  "'");
    return std::nullopt;
  }
  if (!options.half_pixel && transformation != "output_half_pixel") {
    c.FailInvalid(
        "attribute 'coordinate_transformation_mode': expected half_pixel or "
        "output_half_pixel, found '" +
        transformation + "'");
    return std::nullopt;
  }
  if (options.sampling_ratio < 0 || options.sampling_ratio > 4096) {
    c.FailInvalid("attribute 'sampling_ratio': expected 0 to 4096, found " +
                  std::to_string(options.sampling_ratio));
    return std::nullopt;
  }
  return options;
}

void ImportRoiAlign(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4) || !c.CheckRank(1, 2, 2) || !c.CheckRank(2, 1, 1))
    return;
  const std::optional<RoiAlignOptions> options = ReadRoiAlignOptions(c);
  if (!options) return;
  const DType result_type = c.Input(0).dtype();
  const DType type = ComputeType(result_type);
  Tensor x = Cast(c.Input(0), type);
  Tensor rois = WithDim(Cast(c.Input(1), type), 1, Dim(4));
  Tensor batch = WithDim(Cast(c.Input(2), DType::kI64), 0, rois.dim(0));
  if (rois.dim(1) != Dim(4)) {
    return c.FailInvalid(
        "rois (input 1): expected 4 numbers per region, found " +
        rois.dim(1).ToString());
  }
  const int64_t bins[] = {c.Integer("output_height", 1),
                          c.Integer("output_width", 1)};
  BinAxis axes[2];
  for (int i = 0; i < 2; ++i) {
    if (bins[i] < 1) {
      return c.FailInvalid("output_height, output_width: expected at least 1");
    }
    // x1, y1, x2, y2
    axes[i] = MakeBinAxis(*options, x.dim(2 + i), bins[i], Column(rois, 1 - i),
                          Column(rois, 3 - i));
  }
  Tensor y = options->sampling_ratio > 0
                 ? Transpose(PoolListedCorners(c, *options, x, batch, axes),
                             {0, 3, 1, 2})
                 : PoolElements(c, *options, x, batch, axes);
  c.SetOutput(0, Cast(y, result_type));
}

constexpr OperatorRow kRows[] = {
    {"RoiAlign", 10, 3, 3, ImportRoiAlign},
};

}  // namespace

std::span<const OperatorRow> RoiAlignOperators() { return kRows; }

}  // namespace ember::onnx
