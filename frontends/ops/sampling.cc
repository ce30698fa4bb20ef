#include "frontends/ops/sampling.h"

#include <string>
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"

namespace ember::ops {
namespace {

using graph::GraphBuilder;

// Reflects positions at `low` and `high` until they are between these bounds.
// The result is a triangle wave of x.
Tensor Reflect(Tensor x, Tensor low, Tensor high) {
  Tensor range = Maximum(high - low, 1e-9);
  Tensor phase = Modulo(x - low, range * 2.0);
  return low + Minimum(phase, range * 2.0 - phase);
}

// One spatial axis of the image. `size` is its extent as a float. `low` and
// `high` are the positions at which positions outside are reflected, if the
// padding is "reflection".
struct GridAxis {
  Dim extent;
  Tensor size;
  Tensor low;
  Tensor high;
};

GridAxis MakeGridAxis(graph::GraphBuilder& builder, const Dim& extent,
                      DType type, bool align_corners) {
  GridAxis axis;
  axis.extent = extent;
  axis.size = Cast(DimScalar(builder, extent), type);
  axis.low = {&builder, builder.Scalar(align_corners ? 0 : -0.5, type)};
  axis.high = align_corners ? axis.size - 1.0 : axis.size - 0.5;
  return axis;
}

// Converts normalized positions, in [-1, 1] within the image, to positions in
// elements. Padding "border" and "reflection" move positions outside into the
// image.
Tensor Position(const GridSampleSpec& options, const GridAxis& axis,
                Tensor normalized) {
  Tensor x = options.align_corners
                 ? (normalized + 1.0) * 0.5 * (axis.size - 1.0)
                 : ((normalized + 1.0) * axis.size - 1.0) * 0.5;
  if (options.mode == "nearest") x = Round(x);
  // Cubic interpolation reads four elements per axis, so from a position
  // outside it may still read elements inside. The position is therefore not
  // moved to the border; Taps moves each element that is read instead.
  if (options.padding == "border" && options.mode != "cubic")
    return Maximum(Minimum(x, axis.size - 1.0), 0);
  if (options.padding == "reflection") {
    Tensor outside = Or(Less(x, axis.low), Less(axis.high, x));
    return Select(outside, Reflect(x, axis.low, axis.high), x);
  }
  return x;
}

// Returns the weight of the element at `distance` from the position, for linear
// interpolation or Keys' cubic one with a = -0.75.
Tensor TapWeight(const std::string& mode, Tensor distance) {
  if (mode == "linear") return Maximum(1.0 - distance, 0);
  constexpr double kA = -0.75;
  Tensor square = distance * distance;
  Tensor cube = square * distance;
  Tensor near = cube * (kA + 2) - square * (kA + 3) + 1.0;
  Tensor far = cube * kA - square * (5 * kA) + distance * (8 * kA) - 4 * kA;
  return Select(LessEqual(distance, 1), near, far);
}

struct Tap {
  Tensor index;   // Index of the element, i64. It is always within the axis.
  Tensor weight;  // absent: 1
};

// Returns the elements along one axis that the interpolation reads around each
// position, with their weights. If the padding is "zeros", elements outside
// have the weight 0.
std::vector<Tap> Taps(const GridSampleSpec& options, const GridAxis& axis,
                      Tensor position) {
  const int first = options.mode == "cubic" ? -1 : 0;
  const int last = options.mode == "cubic"    ? 2
                   : options.mode == "linear" ? 1
                                              : 0;
  Tensor base = options.mode == "nearest" ? position : Floor(position);
  std::vector<Tap> taps;
  for (int tap = first; tap <= last; ++tap) {
    Tensor source = tap == 0 ? base : base + static_cast<double>(tap);
    Tap result;
    if (options.mode != "nearest") {
      result.weight = TapWeight(options.mode, Absolute(source - position));
    }
    if (options.padding == "zeros") {
      Tensor inside = And(LessEqual(0, source), Less(source, axis.size));
      Tensor weight = result.weight ? result.weight
                                    : Broadcast(source.Like(1), source.shape());
      result.weight = Select(inside, weight, weight.Like(0));
    } else if (options.padding == "reflection") {
      Tensor outside = Or(Less(source, axis.low), Less(axis.high, source));
      source = Select(outside, Reflect(source, axis.low, axis.high), source);
    }
    Tensor clamped = Maximum(Minimum(source, axis.size - 1.0), 0);
    result.index = Cast(clamped, DType::kI64);
    taps.push_back(result);
  }
  return taps;
}

// Adds to `sum` the weighted elements for all combinations of taps of the axes
// from `axis` on. `flat` is the row-major index, and `weight` the weight, of
// the taps of the axes before.
Tensor SumTaps(Tensor flat_x, const std::vector<std::vector<Tap>>& taps,
               const std::vector<GridAxis>& axes, size_t axis, Tensor flat,
               Tensor weight, Tensor sum) {
  if (axis == taps.size()) {
    Tensor channels = Unsqueeze(flat, {1});  // [N, 1, P]
    Tensor index =
        Broadcast(channels, {flat_x.dim(0), flat_x.dim(1), flat.dim(1)});
    Tensor value =
        Apply("gather_elements", {flat_x, index}, {{"axis", int64_t{2}}});
    if (weight) value = value * Unsqueeze(weight, {1});
    return sum ? sum + value : value;
  }
  for (const Tap& tap : taps[axis]) {
    Tensor index =
        flat ? flat * DimScalar(flat.builder(), axes[axis].extent) + tap.index
             : tap.index;
    Tensor product = weight && tap.weight ? weight * tap.weight
                     : weight             ? weight
                                          : tap.weight;
    sum = SumTaps(flat_x, taps, axes, axis + 1, index, product, sum);
  }
  return sum;
}

// Returns the normalized coordinates of `extent` elements. -1 and 1 are the
// middles of the first and the last element (align_corners), or their outer
// borders.
Tensor NormalizedCoordinates(GraphBuilder& builder, const Dim& extent,
                             bool align_corners, DType type) {
  Tensor i = IotaVector(builder, extent, type);
  Tensor size = Cast(DimScalar(builder, extent), type);
  // A single element is at 0, the middle, also if align_corners is set.
  if (align_corners)
    return i * 2.0 / Maximum(size - 1.0, 1) - Minimum(size - 1.0, 1);
  return (i * 2.0 + 1.0) / size - 1.0;
}

}  // namespace

Tensor GridSample(Tensor x, Tensor positions, const GridSampleSpec& spec) {
  GraphBuilder& builder = x.builder();
  const int spatial = x.rank() - 2;
  const DType type = ComputeType(positions.dtype());
  Tensor grid = Cast(positions, type);
  grid = WithDim(WithDim(grid, -1, Dim(spatial)), 0, x.dim(0));
  if (grid.dim(-1) != Dim(spatial)) {
    FailInvalid(builder, "grid: expected " + std::to_string(spatial) +
                             " coordinates per point, found " +
                             grid.dim(-1).ToString());
    return x;
  }
  const Shape& shape = x.shape();
  const Shape points(grid.shape().begin() + 1, grid.shape().end() - 1);
  Tensor flat_grid =
      Reshape(grid, {grid.dim(0), graph::ElementCount(points), Dim(spatial)});
  std::vector<GridAxis> axes;
  std::vector<std::vector<Tap>> taps;
  for (int i = 0; i < spatial; ++i) {
    const GridAxis& axis = axes.emplace_back(
        MakeGridAxis(builder, x.dim(i + 2), type, spec.align_corners));
    // The coordinates of a position begin with that of the last axis.
    Tensor coordinate =
        Squeeze(SliceAxis(flat_grid, 2, Dim(spatial - 1 - i), Dim(1)), {2});
    taps.push_back(Taps(spec, axis, Position(spec, axis, coordinate)));
  }
  Tensor flat_x = Cast(
      Reshape(x, {x.dim(0), x.dim(1),
                  graph::ElementCount(Shape(shape.begin() + 2, shape.end()))}),
      type);
  Tensor y = SumTaps(flat_x, taps, axes, 0, Tensor(), Tensor(), Tensor());
  Shape result{x.dim(0), x.dim(1)};
  result.insert(result.end(), points.begin(), points.end());
  return Cast(Reshape(y, result), x.dtype());
}

Tensor AffineGrid(Tensor theta, const Shape& points, bool align_corners) {
  const int spatial = static_cast<int>(points.size());
  Shape column = points;
  column.push_back(Dim(1));
  std::vector<Tensor> columns;
  for (int i = spatial - 1; i >= 0; --i) {
    Tensor line =
        NormalizedCoordinates(theta.builder(), points[static_cast<size_t>(i)],
                              align_corners, theta.dtype());
    columns.push_back(Broadcast(AlongAxis(line, i, spatial + 1), column));
  }
  columns.push_back(Broadcast(theta.Like(1), column));
  Tensor base = Reshape(Concat(columns, spatial),
                        {graph::ElementCount(points), Dim(spatial + 1)});
  Shape result{theta.dim(0)};
  result.insert(result.end(), points.begin(), points.end());
  result.push_back(Dim(spatial));
  return Reshape(Contract(base, theta, "pk,njk->npj"), result);
}

Tensor ColumnsToImage(Tensor x, const Shape& image, const Window& window) {
  GraphBuilder& builder = x.builder();
  const size_t rank = window.kernel.size();
  int64_t elements = 1;
  for (int64_t extent : window.kernel) {
    if (extent < 1 || extent > 4096 || (elements *= extent) > 4096) {
      FailUnsupported(builder, "expected a window of 1 to 4096 elements");
      return x;
    }
  }
  const std::optional<Dim> channels =
      DivideElementCounts({x.dim(1)}, {Dim(elements)});
  if (!channels || !channels->is_constant()) {
    FailInvalid(builder,
                "expected a constant number of channels divisible by the "
                "window's elements, found " +
                    x.dim(1).ToString());
    return x;
  }
  // The transposed convolution below expects the columns x [N, C * window, L]
  // as [N, positions…, C * window].
  Shape positions{x.dim(0)};
  Shape high;
  for (size_t i = 0; i < rank; ++i) {
    const Dim room = image[i] + window.low[i] + window.high[i] -
                     Dim(window.Reach(static_cast<int>(i)));
    positions.push_back(FloorDivide(room, Dim(window.strides[i])) + Dim(1));
    // If the last windows do not reach the end of the image, the rest of it is
    // 0. So less is cut off at the end of the result.
    high.push_back(window.high[i] - Modulo(room, Dim(window.strides[i])));
  }
  positions.push_back(x.dim(1));
  Tensor columns = Reshape(Transpose(x, {0, 2, 1}), positions);
  // Each channel of the columns holds one element of the window. The weights
  // [window…, C * window, 1] put it at its position: they are 1 there, and 0
  // elsewhere.
  Shape weights(window.kernel.begin(), window.kernel.end());
  Tensor element = Reshape(IotaVector(builder, Dim(elements), DType::kI64),
                           {Dim(elements), Dim(1), Dim(1)});
  Tensor own = Modulo(IotaVector(builder, x.dim(1), DType::kI64),
                      static_cast<double>(elements));
  Tensor hit =
      Cast(Equal(element, Reshape(own, {Dim(1), x.dim(1), Dim(1)})), x.dtype());
  weights.push_back(x.dim(1));
  weights.push_back(Dim(1));
  Tensor y = Apply("conv_transpose", {columns, Reshape(hit, weights)},
                   {{"strides", window.strides},
                    {"dilations", window.dilations},
                    {"low", window.low},
                    {"high", high},
                    {"output_padding", std::vector<int64_t>(rank, 0)},
                    {"groups", channels->constant()}});
  std::vector<int64_t> permutation{0, static_cast<int64_t>(rank) + 1};
  for (size_t i = 0; i < rank; ++i)
    permutation.push_back(static_cast<int64_t>(i) + 1);
  return Transpose(y, permutation);
}

}  // namespace ember::ops
