// Imports operators that sample images at computed positions: GridSample,
// AffineGrid, Col2Im.
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operator_table.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

struct GridOptions {
  std::string mode;  // Interpolation: nearest, linear or cubic.
  // Treatment of positions outside of the image: zeros, border or reflection.
  std::string padding;
  bool align_corners = false;
};

// Reflects positions at `low` and `high` until they are between these bounds.
// The result is a triangle wave of x.
Tensor Reflect(Tensor x, Tensor low, Tensor high) {
  Tensor range = Maximum(high - low, 1e-9);
  Tensor phase = Modulo(x - low, range * 2.0);
  return low + Minimum(phase, range * 2.0 - phase);
}

// One spatial axis of a sample: its size as f32, and the bounds of reflection.
struct GridAxis {
  Dim extent;
  Tensor size;
  Tensor low;
  Tensor high;
};

GridAxis MakeGridAxis(NodeContext& c, const Dim& extent, DType type,
                      bool align_corners) {
  GridAxis axis;
  axis.extent = extent;
  axis.size = Cast(DimScalar(c.builder(), extent), type);
  axis.low = c.Scalar(align_corners ? 0 : -0.5, type);
  axis.high = align_corners ? axis.size - 1.0 : axis.size - 0.5;
  return axis;
}

// Converts a coordinate in [-1, 1] to a position in elements. Positions outside
// are moved inside as the padding mode says.
Tensor Position(const GridOptions& options, const GridAxis& axis,
                Tensor normalized) {
  Tensor x = options.align_corners
                 ? (normalized + 1.0) * 0.5 * (axis.size - 1.0)
                 : ((normalized + 1.0) * axis.size - 1.0) * 0.5;
  if (options.mode == "nearest") x = Round(x);
  // A cubic reads more than the two neighbours. From a position outside of the
  // image it still reads elements inside. Therefore each tap is clamped to the
  // border, not the position.
  if (options.padding == "border" && options.mode != "cubic")
    return Maximum(Minimum(x, axis.size - 1.0), 0);
  if (options.padding == "reflection") {
    Tensor outside = Or(Less(x, axis.low), Less(axis.high, x));
    return Select(outside, Reflect(x, axis.low, axis.high), x);
  }
  return x;
}

// Returns the weight of the element at `distance` from the position. The cubic
// is Keys' kernel with a = -0.75.
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
  Tensor index;   // Index of the element, i64, in the range of the axis.
  Tensor weight;  // absent: 1
};

// Returns the taps of one axis: the indices and weights of the elements around
// each position. With zeros padding, elements outside have weight 0.
std::vector<Tap> Taps(const GridOptions& options, const GridAxis& axis,
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

// Sums over all combinations of taps, one per axis, from `axis` on. `flat` is
// the index computed so far.
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

std::optional<GridOptions> ReadGridOptions(NodeContext& c) {
  GridOptions options;
  options.mode = c.String("mode", c.opset() < 20 ? "bilinear" : "linear");
  if (options.mode == "bilinear") options.mode = "linear";
  if (options.mode == "bicubic") options.mode = "cubic";
  options.padding = c.String("padding_mode", "zeros");
  options.align_corners = c.Integer("align_corners", 0) != 0;
  if (options.mode != "nearest" && options.mode != "linear" &&
      options.mode != "cubic") {
    c.FailInvalid(
        "attribute 'mode': expected nearest, linear or cubic, found '" +
        options.mode + "'");
    return std::nullopt;
  }
  if (options.padding != "zeros" && options.padding != "border" &&
      options.padding != "reflection") {
    c.FailInvalid(
        "attribute 'padding_mode': expected zeros, border or reflection, found "
        "'" +
        options.padding + "'");
    return std::nullopt;
  }
  return options;
}

void ImportGridSample(NodeContext& c) {
  if (!c.CheckRank(0, 3, 5) ||
      !c.CheckRank(1, c.Input(0).rank(), c.Input(0).rank()))
    return;
  const std::optional<GridOptions> options = ReadGridOptions(c);
  if (!options) return;
  Tensor x = c.Input(0);
  const int spatial = x.rank() - 2;
  const DType type = ComputeType(c.Input(1).dtype());
  Tensor grid = Cast(c.Input(1), type);
  grid = WithDim(WithDim(grid, -1, Dim(spatial)), 0, x.dim(0));
  if (grid.dim(-1) != Dim(spatial)) {
    return c.FailInvalid("grid (input 1): expected " + std::to_string(spatial) +
                         " coordinates per point, found " +
                         grid.dim(-1).ToString());
  }
  const Shape& shape = x.shape();
  const Shape points(grid.shape().begin() + 1, grid.shape().end() - 1);
  Tensor flat_grid =
      Reshape(grid, {grid.dim(0), ElementCount(points), Dim(spatial)});
  std::vector<GridAxis> axes;
  std::vector<std::vector<Tap>> taps;
  for (int i = 0; i < spatial; ++i) {
    axes.push_back(MakeGridAxis(c, x.dim(i + 2), type, options->align_corners));
    // In the grid, the coordinates of a position begin with the coordinate of
    // the last axis (x, y, z).
    Tensor coordinate =
        Squeeze(SliceAxis(flat_grid, 2, Dim(spatial - 1 - i), Dim(1)), {2});
    taps.push_back(
        Taps(*options, axes[i], Position(*options, axes[i], coordinate)));
  }
  Tensor flat_x =
      Cast(Reshape(x, {x.dim(0), x.dim(1),
                       ElementCount(Shape(shape.begin() + 2, shape.end()))}),
           type);
  Tensor y = SumTaps(flat_x, taps, axes, 0, Tensor(), Tensor(), Tensor());
  Shape result{x.dim(0), x.dim(1)};
  result.insert(result.end(), points.begin(), points.end());
  c.SetOutput(0, Cast(Reshape(y, result), x.dtype()));
}

// Returns the coordinates of `extent` elements. -1 and 1 are the outer corners
// of the outer elements, or their middles if `align_corners`.
Tensor NormalizedCoordinates(NodeContext& c, const Dim& extent,
                             bool align_corners, DType type) {
  Tensor i = IotaVector(c.builder(), extent, type);
  Tensor size = Cast(DimScalar(c.builder(), extent), type);
  if (align_corners) return i * 2.0 / Maximum(size - 1.0, 1) - 1.0;
  return (i * 2.0 + 1.0) / size - 1.0;
}

void ImportAffineGrid(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const std::optional<Shape> size = c.Sizes(1, "size");
  if (!size) return;
  const int spatial = static_cast<int>(size->size()) - 2;
  if (spatial < 1 || spatial > 3)
    return c.FailInvalid("size (input 1): expected 3 to 5 elements");
  Tensor theta = c.Input(0);
  const bool align_corners = c.Integer("align_corners", 0) != 0;
  Shape points(size->begin() + 2, size->end());
  Shape column = points;
  column.push_back(Dim(1));
  std::vector<Tensor> columns;
  for (int i = spatial - 1; i >= 0; --i) {
    Tensor line =
        NormalizedCoordinates(c, points[i], align_corners, theta.dtype());
    columns.push_back(Broadcast(AlongAxis(line, i, spatial + 1), column));
  }
  columns.push_back(Broadcast(theta.Like(1), column));
  Tensor base = Reshape(Concat(columns, spatial),
                        {ElementCount(points), Dim(spatial + 1)});
  Shape result{theta.dim(0)};
  result.insert(result.end(), points.begin(), points.end());
  result.push_back(Dim(spatial));
  c.SetOutput(0, Reshape(Contract(base, theta, "pk,njk->npj"), result));
}

// Imports Col2Im, which converts columns back to an image. It is a transposed
// convolution that adds each element of a block at its position in the image.
void ImportCol2Im(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3)) return;
  const std::optional<Shape> image = c.Sizes(1, "image_shape");
  const auto block = c.ConstantIntegers(2, "block_shape");
  if (!image || !block) return;
  const size_t rank = block->size();
  const std::vector<int64_t> strides =
      c.Integers("strides", std::vector<int64_t>(rank, 1));
  const std::vector<int64_t> dilations =
      c.Integers("dilations", std::vector<int64_t>(rank, 1));
  const std::vector<int64_t> pads =
      c.Integers("pads", std::vector<int64_t>(2 * rank, 0));
  if (image->size() != rank || strides.size() != rank ||
      dilations.size() != rank || pads.size() != 2 * rank) {
    return c.FailInvalid(
        "expected image_shape, strides, dilations and pads for " +
        std::to_string(rank) + " dims");
  }
  constexpr int64_t kMaximum = int64_t{1} << 24;
  for (size_t i = 0; i < rank; ++i) {
    const bool fits = strides[i] >= 1 && strides[i] <= kMaximum &&
                      dilations[i] >= 1 && dilations[i] <= kMaximum &&
                      pads[i] >= 0 && pads[i] <= kMaximum &&
                      pads[rank + i] >= 0 && pads[rank + i] <= kMaximum;
    if (!fits) return c.FailInvalid("strides, dilations or pads out of range");
  }
  Tensor x = c.Input(0);
  int64_t elements = 1;
  for (int64_t extent : *block) {
    if (extent < 1 || extent > 4096 || (elements *= extent) > 4096) {
      return c.FailUnsupported("block_shape: expected 1 to 4096 elements");
    }
  }
  const std::optional<Dim> channels =
      DivideElementCounts({x.dim(1)}, {Dim(elements)});
  if (!channels || !channels->is_constant()) {
    return c.FailInvalid(
        "expected a constant number of channels divisible by the block, "
        "found " +
        x.dim(1).ToString());
  }
  // Rearranges [N, C * block, L] to [N, positions…, C * block].
  Shape positions{x.dim(0)};
  Shape low;
  Shape high;
  for (size_t i = 0; i < rank; ++i) {
    const Dim reach((*block)[i] * dilations[i] - dilations[i] + 1);
    const Dim room = (*image)[i] + Dim(pads[i] + pads[rank + i]) - reach;
    positions.push_back(FloorDivide(room, Dim(strides[i])) + Dim(1));
    low.push_back(Dim(pads[i]));
    // Elements of the image that no window covers, after the last one, are 0.
    high.push_back(Dim(pads[rank + i]) - Modulo(room, Dim(strides[i])));
  }
  positions.push_back(x.dim(1));
  Tensor columns = Reshape(Transpose(x, {0, 2, 1}), positions);
  // The weights, [block…, C * block, 1], are 1 where the position in the window
  // is the block position of the channel, else 0.
  Shape window(block->begin(), block->end());
  Tensor element = Reshape(IotaVector(c.builder(), Dim(elements), DType::kI64),
                           {Dim(elements), Dim(1), Dim(1)});
  Tensor own = Modulo(IotaVector(c.builder(), x.dim(1), DType::kI64),
                      static_cast<double>(elements));
  Tensor hit =
      Cast(Equal(element, Reshape(own, {Dim(1), x.dim(1), Dim(1)})), x.dtype());
  window.push_back(x.dim(1));
  window.push_back(Dim(1));
  Tensor y = Apply("conv_transpose", {columns, Reshape(hit, window)},
                   {{"strides", strides},
                    {"dilations", dilations},
                    {"low", low},
                    {"high", high},
                    {"output_padding", std::vector<int64_t>(rank, 0)},
                    {"groups", channels->constant()}});
  std::vector<int64_t> permutation{0, static_cast<int64_t>(rank) + 1};
  for (size_t i = 0; i < rank; ++i)
    permutation.push_back(static_cast<int64_t>(i) + 1);
  c.SetOutput(0, Transpose(y, permutation));
}

constexpr OperatorRow kRows[] = {
    {"AffineGrid", 20, 2, 2, ImportAffineGrid},
    {"Col2Im", 18, 3, 3, ImportCol2Im},
    {"GridSample", 16, 2, 2, ImportGridSample},
    {.name = "GridSample",
     .since = 1,
     .minimum_inputs = 2,
     .maximum_inputs = 2,
     .import = ImportGridSample,
     .domain = "com.microsoft",
     .as_opset = 16},
};

}  // namespace

std::span<const OperatorRow> SamplingOperators() { return kRows; }

}  // namespace ember::onnx
