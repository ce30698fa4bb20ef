// Imports operators that sample images and feature maps at computed positions,
// and operators that add up windows to an image.
#include "frontends/ops/sampling.h"

#include <array>
#include <string>
#include <vector>

#include "frontends/ops/regions.h"
#include "frontends/ops/roi_align.h"
#include "frontends/ops/windows.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns names[number] for an argument that selects a mode by number. A number
// without a name is an error.
template <size_t count>
std::string NameOf(Call& c, std::string_view parameter,
                   const std::array<std::string_view, count>& names) {
  const int64_t number = c.integer(parameter);
  if (number >= 0 && number < static_cast<int64_t>(count))
    return std::string(names[static_cast<size_t>(number)]);
  c.FailInvalid(std::string(parameter) + ": expected 0 to " +
                std::to_string(count - 1) + ", found " +
                std::to_string(number));
  return std::string(names[0]);
}

Tensor GridSample(Call& c) {
  const Tensor x = c.tensor("input");
  const Tensor grid = c.tensor("grid");
  if (!c.CheckRank("input", x, 4, 5) ||
      !c.CheckRank("grid", grid, x.rank(), x.rank()))
    return x;
  const ops::GridSampleSpec spec{
      .mode =
          NameOf<3>(c, "interpolation_mode", {"linear", "nearest", "cubic"}),
      .padding =
          NameOf<3>(c, "padding_mode", {"zeros", "border", "reflection"}),
      .align_corners = c.flag("align_corners")};
  return c.ok() ? ops::GridSample(x, grid, spec) : x;
}

Tensor AffineGrid(Call& c) {
  const Tensor theta = c.tensor("theta");
  const Shape size = c.dims("size");
  if (!c.CheckRank("theta", theta, 3, 3)) return theta;
  if (size.size() < 4 || size.size() > 5) {
    c.FailInvalid("size: expected 4 or 5 numbers, found " +
                  std::to_string(size.size()));
    return theta;
  }
  return ops::AffineGrid(theta, {size.begin() + 2, size.end()},
                         c.flag("align_corners"));
}

// Imports col2im, which adds up columns [N, C kh kw, L], or without N, to an
// image.
Tensor ColumnsToImage(Call& c) {
  Tensor x = c.tensor("self");
  const Shape image = c.dims("output_size");
  ops::Window window = ops::WindowOf(c.integers("kernel_size", 2));
  window.dilations = c.integers("dilation", 2);
  window.strides = c.integers("stride", 2);
  const std::vector<int64_t> padding = c.integers("padding", 2);
  if (!c.CheckRank("self", x, 2, 3)) return x;
  for (size_t i = 0; i < 2; ++i) {
    if (image.size() != 2 || window.strides[i] < 1 || window.dilations[i] < 1 ||
        padding[i] < 0 || window.strides[i] > ops::kMaxWindow ||
        window.dilations[i] > ops::kMaxWindow || padding[i] > ops::kMaxWindow) {
      c.FailInvalid(
          "expected an output_size of 2 numbers, a dilation and stride of 1 or "
          "more and a padding of 0 or more");
      return x;
    }
    window.low[i] = window.high[i] = Dim(padding[i]);
  }
  const bool is_batched = x.rank() == 3;
  if (!is_batched) x = ops::Unsqueeze(x, {0});
  const Tensor y = ops::ColumnsToImage(x, image, window);
  return is_batched ? y : ops::Squeeze(y, {0});
}

// The arguments of torchvision's operators on regions of interest. `rois` has
// rows of (image, x1, y1, x2, y2).
struct Regions {
  Tensor x, rois;
  std::array<int64_t, 2> bins = {1, 1};
  double scale = 1;
};
bool ReadRegions(Call& c, Regions& regions) {
  regions.x = c.tensor("input");
  regions.rois = c.tensor("rois");
  regions.scale = c.number("spatial_scale");
  regions.bins = {c.integer("pooled_height"), c.integer("pooled_width")};
  if (!c.CheckRank("input", regions.x, 4, 4) ||
      !c.CheckRank("rois", regions.rois, 2, 2))
    return false;
  regions.rois = ops::Cast(regions.rois, regions.x.dtype());
  for (const int64_t bins : regions.bins) {
    if (bins >= 1 && bins <= 4096) continue;
    c.FailInvalid("pooled_height, pooled_width: expected 1 to 4096, found " +
                  std::to_string(bins));
    return false;
  }
  return true;
}
Tensor AlignedRegions(Call& c, const Regions& regions, bool half_pixel) {
  const int64_t samples = c.integer("sampling_ratio");
  if (samples > 4096) {
    c.FailInvalid("sampling_ratio: expected at most 4096, found " +
                  std::to_string(samples));
  }
  if (!c.ok()) return regions.x;
  return ops::RoiAlign(regions.x,
                       ops::SliceAxis(regions.rois, 1, Dim(1), Dim(4)),
                       ops::Cast(ops::Column(regions.rois, 0), DType::kI64),
                       {.bins = regions.bins,
                        .scale = regions.scale,
                        .samples = samples > 0 ? samples : 0,
                        .half_pixel = half_pixel});
}
Tensor RoiAlign(Call& c) {
  Regions regions;
  if (!ReadRegions(c, regions)) return regions.x;
  return AlignedRegions(c, regions, c.flag("aligned"));
}

Value WithMapping(Call& c, const Tensor& y) {
  return c.machine().NewTuple(
      {c.machine().NewTensor(y),
       Value::Text(Value::Kind::kConflict, "the second result of " +
                                               c.schema().name +
                                               ", which is not supported")});
}
Value RoiPool(Call& c) {
  Regions regions;
  if (!ReadRegions(c, regions)) return {};
  return WithMapping(
      c, ops::MaxRoiPool(regions.x, regions.rois,
                         {.bins = regions.bins, .scale = regions.scale}));
}
// Returns the number of channels of the result of position-sensitive pooling:
// the channels of x divided by the number of bins; nullopt, with an error, if
// that is no known whole number.
std::optional<int64_t> ChannelsOf(Call& c, const Regions& regions) {
  const int64_t bins = regions.bins[0] * regions.bins[1];
  const std::optional<int64_t> channels = regions.x.dim(1).AsConstant();
  if (channels && *channels % bins == 0) return *channels / bins;
  c.FailInvalid("input: expected a number of channels that " +
                std::to_string(bins) + " divides, found " +
                regions.x.dim(1).ToString());
  return std::nullopt;
}
Value PositionSensitiveAlign(Call& c) {
  Regions regions;
  if (!ReadRegions(c, regions)) return {};
  const std::optional<int64_t> channels = ChannelsOf(c, regions);
  if (!channels) return {};
  const Dim rows(regions.bins[0]);
  const Dim columns(regions.bins[1]);
  Tensor y = AlignedRegions(c, regions, /*half_pixel=*/true);
  if (!c.ok()) return {};
  // y has all bins for every channel of x. Of these the result keeps, for each
  // bin, only the channel that belongs to the bin: the diagonals.
  y = ops::Reshape(y, {y.dim(0), Dim(*channels), rows, columns, rows, columns});
  for (const int axis : {2, 3}) {
    y = CallTensorRow(c, "aten::diagonal",
                      {{"self", c.machine().NewTensor(y)},
                       {"dim1", Value::Int(Dim(2))},
                       {"dim2", Value::Int(Dim(axis == 2 ? 4 : 3))}});
  }
  return WithMapping(c, y);
}
Value PositionSensitivePool(Call& c) {
  Regions regions;
  if (!ReadRegions(c, regions)) return {};
  const std::optional<int64_t> channels = ChannelsOf(c, regions);
  if (!channels) return {};
  if (regions.bins[0] != regions.bins[1]) {
    c.FailUnsupported("expected as many rows as columns of bins");
    return {};
  }
  const Tensor y = ops::PositionSensitivePool(
      ops::Cast(regions.x, DType::kF32), ops::Cast(regions.rois, DType::kF32),
      {.bins = regions.bins[0],
       .channels = *channels,
       .scale = regions.scale,
       .whole = true});
  return WithMapping(c, ops::Cast(y, regions.x.dtype()));
}

#define EMBER_TORCH_GRID                                                   \
  "(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, " \
  "bool align_corners)"
#define EMBER_TORCH_REGIONS                                              \
  "(Tensor input, Tensor rois, float spatial_scale, int pooled_height, " \
  "int pooled_width"

constexpr OperatorRow kRows[] = {
    {"grid_sampler" EMBER_TORCH_GRID, GridSample},
    {"grid_sampler_2d" EMBER_TORCH_GRID, GridSample},
    {"grid_sampler_3d" EMBER_TORCH_GRID, GridSample},
    {"_grid_sampler_2d_cpu_fallback" EMBER_TORCH_GRID, GridSample},
    {"affine_grid_generator(Tensor theta, int[] size, bool align_corners)",
     AffineGrid},
    {"col2im(Tensor self, int[] output_size, int[] kernel_size, "
     "int[] dilation, int[] padding, int[] stride)",
     ColumnsToImage},
    {"torchvision::roi_align" EMBER_TORCH_REGIONS
     ", int sampling_ratio, bool aligned=False)",
     RoiAlign},
    {"torchvision::roi_pool" EMBER_TORCH_REGIONS ")", RoiPool},
    {"torchvision::ps_roi_align" EMBER_TORCH_REGIONS ", int sampling_ratio)",
     PositionSensitiveAlign},
    {"torchvision::ps_roi_pool" EMBER_TORCH_REGIONS ")", PositionSensitivePool},
};

}  // namespace

std::span<const OperatorRow> SamplingRows() { return kRows; }

}  // namespace ember::torchscript
