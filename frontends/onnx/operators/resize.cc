// Resize and Upsample: converts their attributes and sizes to a specification
// of frontends/ops/resize.h.
#include "frontends/ops/resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/operators/families.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

using ops::ResizeAxes;
using ops::ResizedAxis;
using ops::ResizeSpec;

// Largest scale that is accepted. A larger one is taken for a mistake, as sizes
// would soon overflow.
constexpr double kLargestScale = 1e6;

// Returns floor(in * scale), computed exactly from the scale's own bits: an f32
// is a fraction m / 2^e. 10 * 0.7f is 6, as 0.7f is 0.699999988. Scales that
// are known only at run time follow the same rule (SetDynamicScales). Nullopt
// after an error.
std::optional<Dim> ScaledExtent(NodeContext& c, const Dim& in, double scale) {
  if (!(scale > 0) || scale > kLargestScale) {
    c.FailInvalid("scales: expected values above 0 and up to 1e6, found " +
                  std::to_string(scale));
    return std::nullopt;
  }
  if (in.is_constant()) {
    const double extent =
        std::floor(static_cast<double>(in.constant()) * scale);
    if (extent < 1e15) return Dim(static_cast<int64_t>(extent));
    c.FailInvalid("scales: expected fewer than 1e15 elements, found " +
                  std::to_string(extent));
    return std::nullopt;
  }
  // The scale is made the fraction numerator / 2^exponent. An f32 of at least
  // 2^-16 needs an exponent of at most 40, and a numerator below 2^24, so the
  // product with extents up to 2^39 fits i64.
  int exponent = 0;
  double numerator = scale;
  for (; exponent <= 40 && numerator != std::floor(numerator); ++exponent)
    numerator *= 2;
  if (exponent <= 40 && numerator < 0x1p24) {
    return FloorDivide(in * Dim(static_cast<int64_t>(numerator)),
                       Dim(int64_t{1} << exponent));
  }
  c.FailUnsupported(
      "scales: expected an f32 of at least 2^-16 for the open "
      "extent " +
      in.ToString() + ", found " + std::to_string(scale) +
      "; fix the dim with --shape");
  return std::nullopt;
}

bool SetScales(NodeContext& c, const std::vector<double>& scales,
               std::vector<ResizedAxis>& axes) {
  if (scales.size() != axes.size()) {
    c.FailInvalid("scales: expected " + std::to_string(axes.size()) +
                  " values, found " + std::to_string(scales.size()));
    return false;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const std::optional<Dim> out = ScaledExtent(c, axes[i].in, scales[i]);
    if (!out) return false;
    axes[i].out = *out;
    axes[i].scale = scales[i];
  }
  return true;
}

// Handles keep_aspect_ratio_policy "not_larger" and "not_smaller", for which
// all axes get one scale: the smallest, or the largest if `larger`. Returns
// false after an error.
bool KeepAspectRatio(NodeContext& c, bool larger,
                     std::vector<ResizedAxis>& axes) {
  std::optional<double> scale;
  for (const ResizedAxis& axis : axes) {
    if (!axis.in.is_constant() || !axis.out.is_constant() ||
        axis.in.constant() < 1) {
      c.FailUnsupported(
          "attribute 'keep_aspect_ratio_policy': expected fixed dims and "
          "known sizes, found " +
          axis.in.ToString() + " resized to " + axis.out.ToString() +
          "; fix the dims with --shape");
      return false;
    }
    const double own = static_cast<double>(axis.out.constant()) /
                       static_cast<double>(axis.in.constant());
    scale = !scale   ? own
            : larger ? std::max(*scale, own)
                     : std::min(*scale, own);
  }
  for (ResizedAxis& axis : axes) {
    const double extent = *scale * static_cast<double>(axis.in.constant());
    if (!(extent < 1e15)) {
      c.FailInvalid("sizes: expected fewer than 1e15 elements, found " +
                    std::to_string(extent));
      return false;
    }
    axis.out = Dim(static_cast<int64_t>(std::floor(extent + 0.5)));
    axis.scale = scale;
  }
  return true;
}

bool SetSizes(NodeContext& c, std::vector<ResizedAxis>& axes) {
  const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
  const bool dynamic = policy == "stretch" && c.Input(3);
  const std::optional<Shape> sizes =
      dynamic ? c.Sizes(3, "sizes") : c.Contents(3, "sizes");
  if (!sizes) return false;
  if (sizes->size() != axes.size()) {
    c.FailInvalid("sizes: expected " + std::to_string(axes.size()) +
                  " values, found " + std::to_string(sizes->size()));
    return false;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].out = (*sizes)[i];
    const std::optional<int64_t> in = axes[i].in.AsConstant();
    const std::optional<int64_t> out = axes[i].out.AsConstant();
    if (in && out && *in > 0) {
      axes[i].scale = static_cast<double>(*out) / static_cast<double>(*in);
    }
  }
  if (policy == "stretch") return true;
  if (policy == "not_larger") return KeepAspectRatio(c, false, axes);
  if (policy == "not_smaller") return KeepAspectRatio(c, true, axes);
  c.FailInvalid("attribute 'keep_aspect_ratio_policy': found '" + policy + "'");
  return false;
}

// Handles scales that are known only at run time: the program computes the
// sizes of the result. Returns false after an error.
bool SetDynamicScales(NodeContext& c, int input,
                      std::vector<ResizedAxis>& axes) {
  Tensor scales = Cast(c.Input(input), DType::kF64);
  if (!c.CheckRank(input, 1, 1)) return false;
  Shape extents;
  for (const ResizedAxis& axis : axes) extents.push_back(axis.in);
  const Dim count(static_cast<int64_t>(axes.size()));
  if (!scales.dim(0).is_constant())
    scales = Apply("assume", {scales}, {{"shape", Shape{count}}});
  if (scales.dim(0) != count) {
    c.FailInvalid("scales: expected " + std::to_string(axes.size()) +
                  " values, found " + scales.dim(0).ToString());
    return false;
  }
  // A NaN among the scales is refused, too, as comparisons with it are false.
  const Tensor is_valid =
      And(Less(0, scales), LessEqual(scales, kLargestScale));
  const Tensor are_valid =
      ops::Reduce(Cast(is_valid, DType::kI64), "minimum", {0}, false);
  c.builder().Require(
      NotEqual(are_valid, 0).value(),
      "scales (input " + std::to_string(input) +
          "): expected values above 0 and up to 1e6, found another one");
  const Tensor in = Cast(c.Wrap(c.builder().ShapeValue(extents)), DType::kF64);
  const auto sizes =
      c.Sizes(Cast(Floor(in * scales), DType::kI64), "scaled sizes");
  if (!sizes) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].out = (*sizes)[i];
    axes[i].dynamic_scale =
        Reshape(SliceAxis(scales, 0, Dim(static_cast<int64_t>(i)), Dim(1)), {});
  }
  return true;
}

bool SetCrop(NodeContext& c, std::vector<ResizedAxis>& axes) {
  if (!c.Input(1)) {
    c.FailInvalid("roi (input 1) is missing");
    return false;
  }
  const auto count = static_cast<int64_t>(axes.size());
  const Tensor roi = Cast(c.Input(1), DType::kF64);
  if (!c.ok()) return false;
  if (roi.shape() != Shape{Dim(2 * count)}) {
    c.FailInvalid("roi: expected " + std::to_string(2 * count) +
                  " values, found " + graph::ShapeToString(roi.shape()));
    return false;
  }
  const auto element = [&](int64_t index) {
    return Reshape(SliceAxis(roi, 0, Dim(index), Dim(1)), {});
  };
  for (int64_t i = 0; i < count; ++i) {
    axes[static_cast<size_t>(i)].crop_start = element(i);
    axes[static_cast<size_t>(i)].crop_end = element(count + i);
  }
  return true;
}

std::vector<ResizedAxis> ReadAxes(NodeContext& c, Tensor x) {
  std::vector<int64_t> all(x.rank());
  std::iota(all.begin(), all.end(), 0);
  std::vector<ResizedAxis> axes;
  for (int64_t axis : c.DistinctAxes(c.Integers("axes", all), x.rank())) {
    ResizedAxis resized;
    resized.axis = static_cast<int>(axis);
    resized.in = resized.out = x.dim(resized.axis);
    axes.push_back(resized);
  }
  return axes;
}

bool HasElements(Tensor x) { return x && ElementCount(x.shape()) != Dim(0); }

bool CheckMode(NodeContext& c, const std::string& mode) {
  if (mode == "nearest" || mode == "linear" || mode == "cubic") return true;
  c.FailInvalid("attribute 'mode': expected nearest, linear or cubic, found '" +
                mode + "'");
  return false;
}

void ImportResize(NodeContext& c) {
  Tensor x = c.Input(0);
  ResizeSpec spec;
  spec.mode = c.String("mode", "nearest");
  // Resize of opset 10 is like Upsample, but can also make images smaller. Its
  // specification does not say which element is nearest then; ONNX's other
  // engines use the rule "simple" (frontends/ops/resize.h).
  const bool old = c.opset() < 11;
  spec.coordinates = c.String("coordinate_transformation_mode",
                              old ? "asymmetric" : "half_pixel");
  spec.nearest =
      c.String("nearest_mode", old ? "simple" : "round_prefer_floor");
  spec.cubic_a = c.Float("cubic_coeff_a", -0.75);
  spec.exclude_outside = c.Integer("exclude_outside", 0) != 0;
  spec.antialias = c.Integer("antialias", 0) != 0 && spec.mode != "nearest";
  spec.extrapolation = c.Float("extrapolation_value", 0);
  std::vector<ResizedAxis> axes = ReadAxes(c, x);
  if (!c.ok() || !CheckMode(c, spec.mode)) return;
  const int scales_input = old ? 1 : 2;
  if (HasElements(c.Input(scales_input))) {
    if (!c.builder().ConstantContents(c.Input(scales_input).value())) {
      if (!SetDynamicScales(c, scales_input, axes)) return;
    } else {
      const auto scales = c.ConstantNumbers(scales_input, "scales");
      if (!scales || !SetScales(c, *scales, axes)) return;
    }
  } else if (!SetSizes(c, axes)) {
    return;
  }
  if (spec.coordinates == "tf_crop_and_resize" && !SetCrop(c, axes)) return;
  c.SetOutput(0, ResizeAxes(spec, axes, x));
}

void ImportUpsample(NodeContext& c) {
  Tensor x = c.Input(0);
  ResizeSpec spec;
  spec.mode = c.String("mode", "nearest");
  if (spec.mode == "bilinear") spec.mode = "linear";
  spec.coordinates = "asymmetric";
  spec.nearest = "floor";
  std::vector<ResizedAxis> axes = ReadAxes(c, x);
  if (c.ok() && c.Input(1) &&
      !c.builder().ConstantContents(c.Input(1).value())) {
    if (CheckMode(c, spec.mode) && SetDynamicScales(c, 1, axes))
      c.SetOutput(0, ResizeAxes(spec, axes, x));
    return;
  }
  auto scales =
      c.Input(1) ? c.ConstantNumbers(1, "scales") : c.Floats("scales");
  // Upsample of opset 1 resizes only images [N, C, H, W], by height_scale and
  // width_scale.
  if (!scales && c.HasAttribute("height_scale") &&
      c.HasAttribute("width_scale") && x.rank() == 4) {
    scales = {1, 1, c.Float("height_scale", 1), c.Float("width_scale", 1)};
  }
  if (!c.ok() || !CheckMode(c, spec.mode)) return;
  if (!scales) return c.FailInvalid("scales are missing");
  if (SetScales(c, *scales, axes)) c.SetOutput(0, ResizeAxes(spec, axes, x));
}

constexpr OperatorRow kRows[] = {
    {"Resize", 10, 1, 4, ImportResize},
    {"Upsample", 1, 1, 2, ImportUpsample},
};

}  // namespace

std::span<const OperatorRow> ResizeOperators() { return kRows; }

}  // namespace ember::onnx
