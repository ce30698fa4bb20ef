// Resize and Upsample: axis by axis, each a sum of gathers along that axis with
// weights that depend on the position only. Positions and weights are computed
// by the graph from iota, so that they fold to constants where extents are
// known and work where they are not.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/compositions.h"
#include "frontends/onnx/dims.h"
#include "frontends/onnx/operator_table.h"

namespace ember::onnx {
namespace {

struct ResizeOptions {
  std::string mode;         // nearest, linear or cubic
  std::string coordinates;  // coordinate_transformation_mode
  std::string nearest;      // nearest_mode
  double cubic_a = -0.75;
  bool exclude_outside = false;
  bool antialias = false;
  bool fixed_point = false;  // see WeightedSum
  double extrapolation = 0;
};

struct ResizedAxis {
  int axis = 0;
  Dim in;
  Dim out;
  std::optional<double> scale;  // where it is a constant
  Tensor dynamic_scale;         // f64[], if only data tells it
  Tensor crop_start, crop_end;  // f64[], of tf_crop_and_resize
};

Tensor AsF64(NodeContext& c, const Dim& dim) {
  if (dim.is_constant())
    return c.Scalar(static_cast<double>(dim.constant()), DType::kF64);
  return Cast(DimScalar(c.builder(), dim), DType::kF64);
}

Tensor ScaleOf(NodeContext& c, const ResizedAxis& axis) {
  if (axis.scale) return c.Scalar(*axis.scale, DType::kF64);
  if (axis.dynamic_scale) return axis.dynamic_scale;
  return AsF64(c, axis.out) / AsF64(c, axis.in);
}

// One less than the length of the result before that was rounded down to a
// whole number.
Tensor LastPosition(NodeContext& c, const ResizedAxis& axis) {
  if (axis.scale && axis.in.is_constant() && axis.out.is_constant() &&
      axis.out != Dim(1)) {
    const double length = static_cast<double>(axis.in.constant()) * *axis.scale;
    const bool rounded =
        length - static_cast<double>(axis.out.constant()) > 1e-6 * length;
    if (rounded) return c.Scalar(length - 1, DType::kF64);
  }
  if (axis.dynamic_scale) {
    const Tensor last = AsF64(c, axis.in) * axis.dynamic_scale - 1.0;
    return Select(Equal(AsF64(c, axis.out), 1), last.Like(1), last);
  }
  return AsF64(c, LargerOf(axis.out - Dim(1), Dim(1)));
}

// Where each result element lies in the input, f64[out].
Tensor SourcePositions(NodeContext& c, const ResizeOptions& options,
                       const ResizedAxis& axis) {
  Tensor i = IotaVector(c.builder(), axis.out, DType::kF64);
  Tensor scale = ScaleOf(c, axis);
  Tensor half_pixel = (i + 0.5) / scale - 0.5;
  if (options.fixed_point) {
    // To the last bit, which decides how halves are rounded.
    Tensor narrow =
        (Cast(i, DType::kF32) + 0.5) / Cast(scale, DType::kF32) - 0.5;
    half_pixel = Cast((narrow + 0.5) - 0.5, DType::kF64);
  }
  // Multiplied before it is divided: positions halfway between elements must
  // come out exact.
  Tensor aligned = i * AsF64(c, axis.in - Dim(1)) / LastPosition(c, axis);
  const std::string& mode = options.coordinates;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (mode == "asymmetric") return i / scale;
  if (mode == "align_corners") return aligned;
  if (mode == "pytorch_half_pixel") {
    if (axis.out.is_constant()) return axis.out == Dim(1) ? i : half_pixel;
    return Select(Equal(AsF64(c, axis.out), 1), i, half_pixel);
  }
  if (mode == "half_pixel_symmetric") {
    Tensor in = AsF64(c, axis.in);
    return half_pixel + in * 0.5 * (1.0 - AsF64(c, axis.out) / (scale * in));
  }
  if (mode == "tf_crop_and_resize") {
    Tensor size = AsF64(c, axis.in - Dim(1));
    if (axis.out == Dim(1))
      return i + size * ((axis.crop_start + axis.crop_end) * 0.5);
    return size * axis.crop_start + aligned * (axis.crop_end - axis.crop_start);
  }
  c.FailInvalid("attribute 'coordinate_transformation_mode': found '" + mode +
                "'");
  return c.Wrap(nullptr);
}

// Positions (f64, whole numbers) as indices within the axis.
Tensor ClampedIndices(NodeContext& c, Tensor positions, const Dim& extent) {
  Tensor last = AsF64(c, extent - Dim(1));
  return Cast(Maximum(Minimum(positions, last), 0), DType::kI64);
}

Tensor NearestPositions(NodeContext& c, const std::string& mode,
                        Tensor positions) {
  if (mode == "round_prefer_floor") return Ceil(positions - 0.5);
  if (mode == "round_prefer_ceil") return Floor(positions + 0.5);
  if (mode == "floor") return Floor(positions);
  if (mode == "ceil") return Ceil(positions);
  c.FailInvalid("attribute 'nearest_mode': found '" + mode + "'");
  return c.Wrap(nullptr);
}

// Every element repeated `times` times: what nearest does for whole scales with
// these modes.
bool IsRepetition(const ResizeOptions& options, const ResizedAxis& axis) {
  if (options.mode != "nearest" || !axis.scale ||
      *axis.scale != std::floor(*axis.scale) || *axis.scale < 1 ||
      *axis.scale > 1024 ||
      axis.out != axis.in * Dim(static_cast<int64_t>(*axis.scale))) {
    return false;
  }
  const bool rounds = options.nearest.rfind("round", 0) == 0;
  return (options.coordinates == "asymmetric" && options.nearest == "floor") ||
         (options.coordinates == "half_pixel" && rounds);
}

// Weight of an input element at `distance` (f64, 0 or more) from the position.
Tensor FilterWeight(const ResizeOptions& options, Tensor distance) {
  if (options.mode == "linear") return Maximum(1.0 - distance, 0);
  const double a = options.cubic_a;
  Tensor square = distance * distance;
  Tensor cube = square * distance;
  Tensor near = cube * (a + 2) - square * (a + 3) + 1.0;
  Tensor far = cube * a - square * (5 * a) + distance * (8 * a) - 4 * a;
  Tensor zero = distance.Like(0);
  return Select(LessEqual(distance, 1), near,
                Select(Less(distance, 2), far, zero));
}

// Sum of x at the sources times the weights. Images of bytes that are resized
// with antialias are summed in fixed point with 22 bits, and rounded after each
// axis, which is what Pillow and ONNX Runtime do.
Tensor WeightedSum(NodeContext& c, const ResizeOptions& options,
                   const ResizedAxis& axis, Tensor x,
                   const std::vector<Tensor>& weights,
                   const std::vector<Tensor>& sources) {
  constexpr double kOne = 1 << 22;
  if (options.fixed_point) x = Cast(x, DType::kI32);
  Tensor sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    Tensor weight =
        options.fixed_point ? Floor(weights[i] * kOne + 0.5) : weights[i];
    Tensor part = Gather(x, ClampedIndices(c, sources[i], axis.in), axis.axis) *
                  AlongAxis(Cast(weight, x.dtype()), axis.axis, x.rank());
    sum = sum ? sum + part : part;
  }
  if (!options.fixed_point) return sum;
  return Cast(Floor(Cast(sum, DType::kF64) / kOne + 0.5), DType::kF32);
}

// Linear and cubic: input elements around each position, weighted.
Tensor Interpolate(NodeContext& c, const ResizeOptions& options,
                   const ResizedAxis& axis, Tensor x, Tensor positions) {
  // Shrinking with antialias widens the filter by the scale.
  double filter_scale = 1;
  if (options.antialias) {
    if (!axis.scale) {
      c.FailUnsupported("antialias needs a constant scale");
      return x;
    }
    filter_scale = std::min(*axis.scale, 1.0);
  }
  const double radius = (options.mode == "linear" ? 1 : 2) / filter_scale;
  if (!(radius < 4096)) {
    c.FailUnsupported("scale: expected above 1/2048 with antialias");
    return x;
  }
  const int first = static_cast<int>(std::floor(-radius)) + 1;
  // Beyond the first and last element both neighbours are that one element. It
  // is then the result as it is: a sum of two parts of it would round, so that
  // elements that should be equal were not, which a normalization of an axis
  // that grew from one element, or the index of a maximum, shows.
  if (options.mode == "linear" && !options.antialias) {
    positions = Maximum(Minimum(positions, AsF64(c, axis.in - Dim(1))), 0);
  }
  Tensor base = Floor(positions);
  Tensor fraction = positions - base;
  if (options.fixed_point) {
    fraction = Cast(fraction, DType::kF32);
    filter_scale = 1.0f / (1.0f / static_cast<float>(filter_scale));
  }
  std::vector<Tensor> weights;
  std::vector<Tensor> sources;
  Tensor total;
  for (int tap = first; tap <= 1 - first; ++tap) {
    Tensor weight = FilterWeight(
        options,
        Absolute((static_cast<double>(tap) - fraction) * filter_scale));
    Tensor source = base + static_cast<double>(tap);
    if (options.exclude_outside) {
      Tensor inside =
          And(LessEqual(0, source), Less(source, AsF64(c, axis.in)));
      weight = Select(inside, weight, weight.Like(0));
    }
    total = total ? total + weight : weight;
    weights.push_back(weight);
    sources.push_back(source);
  }
  Tensor inverse = 1.0 / total;
  for (Tensor& weight : weights) weight = weight * inverse;
  return WeightedSum(c, options, axis, x, weights, sources);
}

Tensor ResizeAxis(NodeContext& c, const ResizeOptions& options,
                  const ResizedAxis& axis, Tensor x) {
  const bool crops = options.coordinates == "tf_crop_and_resize";
  if (IsRepetition(options, axis)) {
    return RepeatEach(x, axis.axis, Dim(static_cast<int64_t>(*axis.scale)));
  }
  Tensor positions = SourcePositions(c, options, axis);
  if (!c.ok()) return x;
  Tensor y;
  if (options.mode == "nearest") {
    Tensor nearest = NearestPositions(c, options.nearest, positions);
    if (!c.ok()) return x;
    y = Gather(x, ClampedIndices(c, nearest, axis.in), axis.axis);
  } else {
    y = Interpolate(c, options, axis, x, positions);
  }
  if (!crops || !c.ok()) return y;
  Tensor inside = And(LessEqual(0, positions),
                      LessEqual(positions, AsF64(c, axis.in - Dim(1))));
  return Select(AlongAxis(inside, axis.axis, x.rank()), y,
                y.Like(options.extrapolation));
}

Tensor ResizeAxes(NodeContext& c, ResizeOptions options,
                  const std::vector<ResizedAxis>& axes, Tensor x) {
  const DType type = x.dtype();
  options.fixed_point = options.antialias && DTypeByteSize(type) == 1;
  if (options.mode != "nearest")
    x = Cast(x, type == DType::kF64 ? type : DType::kF32);
  // The innermost axis first, as other engines do: where each axis rounds, the
  // order shows.
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const bool unchanged = axis->in == axis->out &&
                           (!axis->scale || *axis->scale == 1) &&
                           options.coordinates != "tf_crop_and_resize";
    if (!unchanged && c.ok()) x = ResizeAxis(c, options, *axis, x);
  }
  // Integers are rounded, as interpolation lands between them.
  if (!IsFloat(type) && x.is_float()) x = Round(x);
  return Cast(x, type);
}

// floor(in * scale), exactly for symbols where the scale is a simple fraction.
std::optional<Dim> ScaledExtent(NodeContext& c, const Dim& in, double scale) {
  if (!(scale > 0) || scale > 1e6) {
    c.FailInvalid("scales: expected positive values, found " +
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
  for (int64_t divisor = 1; divisor <= 64; ++divisor) {
    const double numerator = scale * static_cast<double>(divisor);
    if (std::abs(numerator - std::round(numerator)) < 1e-6 * numerator) {
      return FloorDivide(in * Dim(static_cast<int64_t>(std::round(numerator))),
                         Dim(divisor));
    }
  }
  c.FailUnsupported(
      "scales: expected a simple fraction for the symbolic extent " +
      in.ToString() + ", found " + std::to_string(scale));
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

// "not_larger" and "not_smaller" scale all axes alike.
bool KeepAspectRatio(NodeContext& c, bool larger,
                     std::vector<ResizedAxis>& axes) {
  std::optional<double> scale;
  for (const ResizedAxis& axis : axes) {
    if (!axis.in.is_constant() || !axis.out.is_constant() ||
        axis.in.constant() < 1) {
      c.FailUnsupported("keep_aspect_ratio_policy needs constant extents");
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
    axis.scale = *scale;
  }
  return true;
}

bool SetSizes(NodeContext& c, std::vector<ResizedAxis>& axes) {
  const std::string policy = c.String("keep_aspect_ratio_policy", "stretch");
  const bool dynamic =
      policy == "stretch" && c.Integer("antialias", 0) == 0 && c.Input(3);
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

// Scales that only data tells: the program works out the sizes.
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
  const Tensor in = Cast(c.Wrap(c.builder().ShapeValue(extents)), DType::kF64);
  const auto sizes =
      c.SizesOf(Cast(Floor(in * scales), DType::kI64), "scaled sizes");
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
  for (int64_t axis : c.NormalizeAxes(c.Integers("axes", all), x.rank())) {
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
  ResizeOptions options;
  options.mode = c.String("mode", "nearest");
  // Opset 10 had Upsample's semantics.
  const bool old = c.opset() < 11;
  options.coordinates = c.String("coordinate_transformation_mode",
                                 old ? "asymmetric" : "half_pixel");
  options.nearest =
      c.String("nearest_mode", old ? "floor" : "round_prefer_floor");
  options.cubic_a = c.Float("cubic_coeff_a", -0.75);
  options.exclude_outside = c.Integer("exclude_outside", 0) != 0;
  options.antialias =
      c.Integer("antialias", 0) != 0 && options.mode != "nearest";
  options.extrapolation = c.Float("extrapolation_value", 0);
  std::vector<ResizedAxis> axes = ReadAxes(c, x);
  if (!c.ok() || !CheckMode(c, options.mode)) return;
  const int scales_input = old ? 1 : 2;
  if (HasElements(c.Input(scales_input))) {
    // Antialiasing needs to know how many elements a window has.
    const bool known = options.antialias || c.builder().ConstantContents(
                                                c.Input(scales_input).value());
    if (!known) {
      if (!SetDynamicScales(c, scales_input, axes)) return;
    } else {
      const auto scales = c.ConstantNumbers(scales_input, "scales");
      if (!scales || !SetScales(c, *scales, axes)) return;
    }
  } else if (!SetSizes(c, axes)) {
    return;
  }
  if (options.coordinates == "tf_crop_and_resize" && !SetCrop(c, axes)) return;
  c.SetOutput(0, ResizeAxes(c, options, axes, x));
}

void ImportUpsample(NodeContext& c) {
  Tensor x = c.Input(0);
  ResizeOptions options;
  options.mode = c.String("mode", "nearest");
  if (options.mode == "bilinear") options.mode = "linear";
  options.coordinates = "asymmetric";
  options.nearest = "floor";
  std::vector<ResizedAxis> axes = ReadAxes(c, x);
  if (c.ok() && c.Input(1) &&
      !c.builder().ConstantContents(c.Input(1).value())) {
    if (CheckMode(c, options.mode) && SetDynamicScales(c, 1, axes))
      c.SetOutput(0, ResizeAxes(c, options, axes, x));
    return;
  }
  auto scales =
      c.Input(1) ? c.ConstantNumbers(1, "scales") : c.Floats("scales");
  // Opset 1 knew images only.
  if (!scales && c.HasAttribute("height_scale") &&
      c.HasAttribute("width_scale") && x.rank() == 4) {
    scales = {1, 1, c.Float("height_scale", 1), c.Float("width_scale", 1)};
  }
  if (!c.ok() || !CheckMode(c, options.mode)) return;
  if (!scales) return c.FailInvalid("scales are missing");
  if (SetScales(c, *scales, axes))
    c.SetOutput(0, ResizeAxes(c, options, axes, x));
}

constexpr OperatorRow kRows[] = {
    {"Resize", 10, 1, 4, ImportResize},
    {"Upsample", 1, 1, 2, ImportUpsample},
};

}  // namespace

std::span<const OperatorRow> ResizeOperators() { return kRows; }

}  // namespace ember::onnx
