// Imports operators on images: resizing, moves between pixels and channels, and
// selection of boxes.
#include <cmath>
#include <optional>
#include <string>

#include "frontends/ops/regions.h"
#include "frontends/ops/resize.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Returns `in * factor`, rounded down. Expressions of open dims have only
// integers, so if `in` is open, the factor must be a fraction with a small
// power of 2 as its denominator; otherwise the result is nullopt.
std::optional<Dim> Scaled(const Dim& in, double factor) {
  if (in.is_constant() && factor > 0)
    return Dim(
        static_cast<int64_t>(static_cast<double>(in.constant()) * factor));
  constexpr int64_t kMaxParts = 1 << 16;
  for (int64_t parts = 1; parts <= kMaxParts; parts *= 2) {
    const double whole = factor * static_cast<double>(parts);
    if (whole != std::floor(whole) || whole < 1 || whole > kMaxParts) continue;
    return FloorDivide(in * Dim(static_cast<int64_t>(whole)), Dim(parts));
  }
  return std::nullopt;
}

// The result's extents of a resize, and the factors that the call states
// (nullopt where it states none), by axis.
struct Target {
  Shape sizes;
  std::vector<std::optional<double>> factors;
};
std::optional<Target> TargetOf(Call& c, const Tensor& x, size_t count,
                               std::string_view sizes,
                               const std::vector<std::string_view>& factors) {
  Target target;
  target.factors.resize(count);
  for (size_t i = 0; i < factors.size(); ++i) {
    if (!c.has(factors[i])) continue;
    // A call states either a list with the factors of all axes, or one argument
    // per axis.
    const std::vector<double> numbers = c.numbers(factors[i]);
    for (size_t k = 0; k < count; ++k) {
      if (factors.size() == 1 && numbers.size() == count)
        target.factors[k] = numbers[k];
      else if (k == i && numbers.size() == 1)
        target.factors[k] = numbers[0];
    }
  }
  if (c.has(sizes)) target.sizes = c.dims(sizes);
  if (!c.ok()) return std::nullopt;
  if (target.sizes.empty()) {
    for (size_t i = 0; i < count; ++i) {
      if (!target.factors[i]) {
        c.FailInvalid("expected sizes or factors, found neither");
        return std::nullopt;
      }
      const Dim& in = x.dim(static_cast<int>(i) + 2);
      const double factor = *target.factors[i];
      const std::optional<Dim> size = Scaled(in, factor);
      if (!size) {
        c.FailUnsupported("expected a known extent to resize by " +
                          std::to_string(factor) + ", found " + in.ToString());
        return std::nullopt;
      }
      target.sizes.push_back(*size);
    }
  }
  if (target.sizes.size() != count) {
    c.FailInvalid("expected " + std::to_string(count) + " sizes, found " +
                  std::to_string(target.sizes.size()));
    return std::nullopt;
  }
  return target;
}

Tensor Resize(Call& c, const Tensor& x, const ops::ResizeSpec& spec,
              const Target& target) {
  std::vector<ops::ResizedAxis> axes;
  for (size_t i = 0; i < target.sizes.size(); ++i) {
    ops::ResizedAxis axis;
    axis.axis = static_cast<int>(i) + 2;
    axis.in = x.dim(axis.axis);
    axis.out = target.sizes[i];
    // If align_corners is set, the scale follows from the sizes alone, so a
    // given scale factor is not used.
    const bool is_aligned = spec.coordinates == "align_corners";
    if (target.factors[i] && *target.factors[i] > 0 && !is_aligned)
      axis.scale = target.factors[i];
    axes.push_back(axis);
  }
  return c.ok() ? ops::ResizeAxes(spec, axes, x) : x;
}
ops::ResizeSpec SpecOf(const std::string& mode, bool align_corners) {
  ops::ResizeSpec spec;
  spec.mode = mode;
  if (mode == "nearest") {
    spec.coordinates = "asymmetric";
    spec.nearest = "floor";
  } else {
    spec.coordinates = align_corners ? "align_corners" : "half_pixel";
  }
  return spec;
}
// Returns the interpolation "nearest-exact", which takes the input pixel that
// is nearest to the middle of each result pixel.
ops::ResizeSpec ExactSpec() {
  ops::ResizeSpec spec;
  spec.mode = "nearest";
  spec.coordinates = "half_pixel";
  spec.nearest = "round_prefer_ceil";
  return spec;
}

enum class Mode : uint8_t { kNearest, kExact, kLinear, kCubic };

template <Mode mode, size_t count>
Tensor Upsample(Call& c) {
  const Tensor x = c.tensor("input");
  const int rank = static_cast<int>(count) + 2;
  if (!c.CheckRank("input", x, rank, rank)) return x;
  constexpr bool has_corners = mode == Mode::kLinear || mode == Mode::kCubic;
  const bool align_corners = has_corners && c.flag("align_corners");
  std::vector<std::string_view> factors;
  for (const SchemaParameter& parameter : c.schema().parameters)
    if (parameter.name.starts_with("scale")) factors.push_back(parameter.name);
  const std::optional<Target> target =
      TargetOf(c, x, count, "output_size", factors);
  if (!target) return x;
  const ops::ResizeSpec spec = mode == Mode::kExact
                                   ? ExactSpec()
                                   : SpecOf(mode == Mode::kNearest  ? "nearest"
                                            : mode == Mode::kLinear ? "linear"
                                                                    : "cubic",
                                            align_corners);
  return Resize(c, x, spec, *target);
}
template <Mode mode>
Tensor UpsampleAntialiased(Call& c) {
  const Tensor x = c.tensor("input");
  if (!c.CheckRank("input", x, 4, 4)) return x;
  std::vector<std::string_view> factors;
  for (const SchemaParameter& parameter : c.schema().parameters)
    if (parameter.name.starts_with("scale")) factors.push_back(parameter.name);
  std::optional<Target> target = TargetOf(c, x, 2, "output_size", factors);
  if (!target) return x;
  // If both align_corners and antialiasing are set, PyTorch uses the scale
  // factor (out - 1) / (in - 1), but still samples at the middles of pixels.
  const bool is_aligned = c.flag("align_corners");
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<int64_t> in =
        x.dim(static_cast<int>(i) + 2).AsConstant();
    const std::optional<int64_t> out = target->sizes[i].AsConstant();
    if (!is_aligned && (target->factors[i] || !in || !out)) continue;
    if (!in || !out || (is_aligned && (*in < 2 || *out < 2))) {
      c.FailUnsupported(
          "antialias with align_corners: expected extents of 2 or more that "
          "are known when importing");
      return x;
    }
    const int64_t less = is_aligned ? 1 : 0;
    target->factors[i] =
        static_cast<double>(*out - less) / static_cast<double>(*in - less);
  }
  ops::ResizeSpec spec =
      SpecOf(mode == Mode::kLinear ? "linear" : "cubic", false);
  spec.antialias = true;
  spec.exclude_outside = true;
  spec.cubic_a = -0.5;
  return Resize(c, x, spec, *target);
}

// Moves channels [.., C r², H, W] into blocks of pixels, [.., C, H r, W r].
Tensor PixelShuffle(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t r = c.integer("upscale_factor");
  if (!c.CheckRank("self", x, 3)) return x;
  if (r < 1 || r > 4096) {
    c.FailInvalid("upscale_factor: expected 1 to 4096, found " +
                  std::to_string(r));
    return x;
  }
  const Shape front(x.shape().begin(), x.shape().end() - 3);
  const Dim batch = graph::ElementCount(front);
  const Dim channels = FloorDivide(x.dim(-3), Dim(r * r));
  const Tensor apart =
      ops::Reshape(x, {batch, channels, Dim(r), Dim(r), x.dim(-2), x.dim(-1)});
  Shape result = front;
  result.insert(result.end(),
                {channels, x.dim(-2) * Dim(r), x.dim(-1) * Dim(r)});
  return ops::Reshape(ops::Transpose(apart, {0, 1, 4, 2, 5, 3}), result);
}
Tensor PixelUnshuffle(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t r = c.integer("downscale_factor");
  if (!c.CheckRank("self", x, 3)) return x;
  if (r < 1 || r > 4096) {
    c.FailInvalid("downscale_factor: expected 1 to 4096, found " +
                  std::to_string(r));
    return x;
  }
  const Shape front(x.shape().begin(), x.shape().end() - 3);
  const Dim batch = graph::ElementCount(front);
  const Dim height = FloorDivide(x.dim(-2), Dim(r));
  const Dim width = FloorDivide(x.dim(-1), Dim(r));
  const Tensor apart =
      ops::Reshape(x, {batch, x.dim(-3), height, Dim(r), width, Dim(r)});
  Shape result = front;
  result.insert(result.end(), {x.dim(-3) * Dim(r * r), height, width});
  return ops::Reshape(ops::Transpose(apart, {0, 1, 3, 5, 2, 4}), result);
}
Tensor ChannelShuffle(Call& c) {
  const Tensor x = c.tensor("self");
  const int64_t groups = c.integer("groups");
  if (!c.CheckRank("self", x, 3)) return x;
  if (groups < 1) {
    c.FailInvalid("groups: expected 1 or more, found " +
                  std::to_string(groups));
    return x;
  }
  Shape apart = {x.dim(0), Dim(groups), FloorDivide(x.dim(1), Dim(groups))};
  const Dim rest =
      graph::ElementCount(Shape(x.shape().begin() + 2, x.shape().end()));
  apart.push_back(rest);
  return ops::Reshape(ops::Transpose(ops::Reshape(x, apart), {0, 2, 1, 3}),
                      x.shape());
}

// Imports im2col: returns the windows of an image as columns: [N, C kh kw, L].
Tensor Im2Col(Call& c) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> kernel = c.integers("kernel_size", 2);
  const std::vector<int64_t> dilation = c.integers("dilation", 2);
  const std::vector<int64_t> padding = c.integers("padding", 2);
  const std::vector<int64_t> stride = c.integers("stride", 2);
  if (!c.CheckRank("self", x, 4, 4)) return x;
  for (size_t i = 0; i < 2; ++i) {
    if (kernel[i] < 1 || dilation[i] < 1 || stride[i] < 1 || padding[i] < 0 ||
        kernel[i] > 65536 || dilation[i] > 65536 || padding[i] > 65536) {
      c.FailInvalid(
          "expected a kernel, dilation and stride of 1 or more, at "
          "most 65536, and a padding of 0 or more");
      return x;
    }
  }
  const Shape pads = {Dim(0), Dim(0), Dim(padding[0]), Dim(padding[1])};
  Tensor y = ops::Pad(x, pads, pads, "constant", x.Like(0));
  // Each spatial axis is replaced by two: the position in the window, and the
  // number of the window.
  Shape counts;
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<size_t>(i);
    const int axis = 2 + 2 * i;
    const Dim count =
        FloorDivide(y.dim(axis) - Dim((kernel[at] - 1) * dilation[at] + 1),
                    Dim(stride[at])) +
        Dim(1);
    const Tensor places =
        ops::AlongAxis(IotaVector(c.builder(), Dim(kernel[at]), DType::kI64) *
                           static_cast<double>(dilation[at]),
                       0, 2);
    const Tensor starts =
        ops::AlongAxis(IotaVector(c.builder(), count, DType::kI64) *
                           static_cast<double>(stride[at]),
                       1, 2);
    y = ops::Gather(y, places + starts, axis);
    counts.push_back(count);
  }
  return ops::Reshape(
      ops::Transpose(y, {0, 1, 2, 4, 3, 5}),
      {x.dim(0), x.dim(1) * Dim(kernel[0] * kernel[1]), counts[0] * counts[1]});
}

// Imports torchvision's nms: returns the indices of the boxes that are kept,
// best first.
Tensor Nms(Call& c) {
  const Tensor boxes = ops::Cast(c.tensor("dets"), DType::kF32);
  const Tensor scores = ops::Cast(c.tensor("scores"), DType::kF32);
  const Tensor overlap = c.scalar("iou_threshold", DType::kF32);
  if (!c.CheckRank("dets", boxes, 2, 2) || !c.CheckRank("scores", scores, 1, 1))
    return boxes;
  const Tensor kept = ops::NonMaxSuppression(
      ops::Unsqueeze(boxes, {0}), ops::Unsqueeze(scores, {0, 1}), overlap,
      c.Number(-3.4028234663852886e38, DType::kF32), boxes.dim(0));
  return ops::Column(kept, 2);
}

#define EMBER_TORCH_BY_LIST(corners) \
  "(Tensor input, int[]? output_size, " corners "float[]? scale_factors)"

constexpr OperatorRow kRows[] = {
    {"upsample_nearest1d" EMBER_TORCH_BY_LIST(""), Upsample<Mode::kNearest, 1>},
    {"upsample_nearest1d(Tensor input, int[] output_size, "
     "float? scales=None)",
     Upsample<Mode::kNearest, 1>},
    {"upsample_nearest2d" EMBER_TORCH_BY_LIST(""), Upsample<Mode::kNearest, 2>},
    {"upsample_nearest2d(Tensor input, int[] output_size, "
     "float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kNearest, 2>},
    {"upsample_nearest3d" EMBER_TORCH_BY_LIST(""), Upsample<Mode::kNearest, 3>},
    {"upsample_nearest3d(Tensor input, int[] output_size, "
     "float? scales_d=None, float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kNearest, 3>},
    {"_upsample_nearest_exact1d" EMBER_TORCH_BY_LIST(""),
     Upsample<Mode::kExact, 1>},
    {"_upsample_nearest_exact1d(Tensor input, int[] output_size, "
     "float? scales=None)",
     Upsample<Mode::kExact, 1>},
    {"_upsample_nearest_exact2d" EMBER_TORCH_BY_LIST(""),
     Upsample<Mode::kExact, 2>},
    {"_upsample_nearest_exact2d(Tensor input, int[] output_size, "
     "float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kExact, 2>},
    {"_upsample_nearest_exact3d" EMBER_TORCH_BY_LIST(""),
     Upsample<Mode::kExact, 3>},
    {"_upsample_nearest_exact3d(Tensor input, int[] output_size, "
     "float? scales_d=None, float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kExact, 3>},
    {"upsample_linear1d" EMBER_TORCH_BY_LIST("bool align_corners, "),
     Upsample<Mode::kLinear, 1>},
    {"upsample_linear1d(Tensor input, int[] output_size, bool align_corners, "
     "float? scales=None)",
     Upsample<Mode::kLinear, 1>},
    {"upsample_bilinear2d" EMBER_TORCH_BY_LIST("bool align_corners, "),
     Upsample<Mode::kLinear, 2>},
    {"upsample_bilinear2d(Tensor input, int[] output_size, "
     "bool align_corners, float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kLinear, 2>},
    {"upsample_trilinear3d" EMBER_TORCH_BY_LIST("bool align_corners, "),
     Upsample<Mode::kLinear, 3>},
    {"upsample_trilinear3d(Tensor input, int[] output_size, "
     "bool align_corners, float? scales_d=None, float? scales_h=None, "
     "float? scales_w=None)",
     Upsample<Mode::kLinear, 3>},
    {"upsample_bicubic2d" EMBER_TORCH_BY_LIST("bool align_corners, "),
     Upsample<Mode::kCubic, 2>},
    {"upsample_bicubic2d(Tensor input, int[] output_size, "
     "bool align_corners, float? scales_h=None, float? scales_w=None)",
     Upsample<Mode::kCubic, 2>},
    {"_upsample_bilinear2d_aa" EMBER_TORCH_BY_LIST("bool align_corners, "),
     UpsampleAntialiased<Mode::kLinear>},
    {"_upsample_bilinear2d_aa(Tensor input, int[] output_size, "
     "bool align_corners, float? scales_h=None, float? scales_w=None)",
     UpsampleAntialiased<Mode::kLinear>},
    {"_upsample_bicubic2d_aa" EMBER_TORCH_BY_LIST("bool align_corners, "),
     UpsampleAntialiased<Mode::kCubic>},
    {"_upsample_bicubic2d_aa(Tensor input, int[] output_size, "
     "bool align_corners, float? scales_h=None, float? scales_w=None)",
     UpsampleAntialiased<Mode::kCubic>},
    {"pixel_shuffle(Tensor self, int upscale_factor)", PixelShuffle},
    {"pixel_unshuffle(Tensor self, int downscale_factor)", PixelUnshuffle},
    {"channel_shuffle(Tensor self, int groups)", ChannelShuffle},
    {"im2col(Tensor self, int[] kernel_size, int[] dilation, int[] padding, "
     "int[] stride)",
     Im2Col},
    {"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold)", Nms},
};

}  // namespace

std::span<const OperatorRow> ImageRows() { return kRows; }

}  // namespace ember::torchscript
