#include "frontends/ops/resize.h"

#include <algorithm>
#include <cmath>

#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"

namespace ember::ops {
namespace {

using graph::GraphBuilder;

Tensor Scalar(GraphBuilder& b, double value, DType dtype) {
  return {&b, b.Scalar(value, dtype)};
}

Tensor AsF64(GraphBuilder& b, const Dim& dim) {
  if (dim.is_constant())
    return Scalar(b, static_cast<double>(dim.constant()), DType::kF64);
  return Cast(DimScalar(b, dim), DType::kF64);
}

Tensor ScaleOf(GraphBuilder& b, const ResizedAxis& axis) {
  if (axis.scale) return Scalar(b, *axis.scale, DType::kF64);
  if (axis.dynamic_scale) return axis.dynamic_scale;
  return AsF64(b, axis.out) / AsF64(b, axis.in);
}

// Returns in * scale - 1, the last position of the result if its extent were
// not rounded down to a whole number; at least 1.
Tensor LastPosition(GraphBuilder& b, const ResizedAxis& axis) {
  if (axis.scale && axis.in.is_constant() && axis.out.is_constant() &&
      axis.out != Dim(1)) {
    const double length = static_cast<double>(axis.in.constant()) * *axis.scale;
    const bool rounded =
        length - static_cast<double>(axis.out.constant()) > 1e-6 * length;
    if (rounded) return Scalar(b, length - 1, DType::kF64);
  }
  if (axis.dynamic_scale) {
    const Tensor last = AsF64(b, axis.in) * axis.dynamic_scale - 1.0;
    return Select(Equal(AsF64(b, axis.out), 1), last.Like(1), last);
  }
  return AsF64(b, LargerOf(axis.out - Dim(1), Dim(1)));
}

// Returns the position in the input of each result element, f64[out].
Tensor SourcePositions(GraphBuilder& b, const ResizeSpec& spec,
                       const ResizedAxis& axis) {
  Tensor i = IotaVector(b, axis.out, DType::kF64);
  Tensor scale = ScaleOf(b, axis);
  Tensor half_pixel = (i + 0.5) / scale - 0.5;
  if (spec.fixed_point) {
    // Sums in fixed point are rounded, and the last bit of a position decides
    // how a half is rounded. So positions are computed in f32, in the order of
    // operations of other engines.
    Tensor narrow =
        (Cast(i, DType::kF32) + 0.5) / Cast(scale, DType::kF32) - 0.5;
    half_pixel = Cast((narrow + 0.5) - 0.5, DType::kF64);
  }
  // The product comes before the division, so that positions halfway between
  // elements are exact.
  Tensor aligned = i * AsF64(b, axis.in - Dim(1)) / LastPosition(b, axis);
  const std::string& mode = spec.coordinates;
  if (mode == "half_pixel") return half_pixel;
  if (mode == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (mode == "asymmetric") return i / scale;
  if (mode == "align_corners") return aligned;
  if (mode == "pytorch_half_pixel") {
    if (axis.out.is_constant()) return axis.out == Dim(1) ? i : half_pixel;
    return Select(Equal(AsF64(b, axis.out), 1), i, half_pixel);
  }
  if (mode == "half_pixel_symmetric") {
    Tensor in = AsF64(b, axis.in);
    return half_pixel + in * 0.5 * (1.0 - AsF64(b, axis.out) / (scale * in));
  }
  if (mode == "tf_crop_and_resize") {
    Tensor size = AsF64(b, axis.in - Dim(1));
    Tensor middle = i + size * ((axis.crop_start + axis.crop_end) * 0.5);
    if (axis.out == Dim(1)) return middle;
    Tensor spread =
        size * axis.crop_start + aligned * (axis.crop_end - axis.crop_start);
    if (axis.out.is_constant()) return spread;
    return Select(Equal(AsF64(b, axis.out), 1), middle, spread);
  }
  FailInvalid(
      b, "attribute 'coordinate_transformation_mode': found '" + mode + "'");
  return Tensor(&b, nullptr);
}

// Converts positions (f64, whole numbers) to indices, and clamps them to the
// axis.
Tensor ClampedIndices(GraphBuilder& b, Tensor positions, const Dim& extent) {
  Tensor last = AsF64(b, extent - Dim(1));
  return Cast(Maximum(Minimum(positions, last), 0), DType::kI64);
}

Tensor NearestPositions(GraphBuilder& b, const std::string& mode,
                        const ResizedAxis& axis, Tensor positions) {
  if (mode == "simple") {
    if (axis.scale) return *axis.scale < 1 ? Ceil(positions) : Floor(positions);
    return Select(Less(ScaleOf(b, axis), 1), Ceil(positions), Floor(positions));
  }
  if (mode == "round_prefer_floor") return Ceil(positions - 0.5);
  if (mode == "round_prefer_ceil") return Floor(positions + 0.5);
  if (mode == "floor") return Floor(positions);
  if (mode == "ceil") return Ceil(positions);
  FailInvalid(b, "attribute 'nearest_mode': found '" + mode + "'");
  return Tensor(&b, nullptr);
}

// True if resizing only repeats every element `scale` times: in nearest mode,
// with a whole scale of 1 to 1024 and `out` = in * scale, for the coordinates
// "asymmetric" with the roundings floor or simple, or "half_pixel" with a
// rounding to nearest.
bool IsRepetition(const ResizeSpec& spec, const ResizedAxis& axis) {
  if (spec.mode != "nearest" || !axis.scale ||
      *axis.scale != std::floor(*axis.scale) || *axis.scale < 1 ||
      *axis.scale > 1024 ||
      axis.out != axis.in * Dim(static_cast<int64_t>(*axis.scale))) {
    return false;
  }
  const bool rounds = spec.nearest.rfind("round", 0) == 0;
  const bool floors = spec.nearest == "floor" || spec.nearest == "simple";
  return (spec.coordinates == "asymmetric" && floors) ||
         (spec.coordinates == "half_pixel" && rounds);
}

// Returns the weight of an input element for a result position that is
// `distance` (f64, 0 or more) away, by the linear or cubic filter.
Tensor FilterWeight(const ResizeSpec& spec, Tensor distance) {
  if (spec.mode == "linear") return Maximum(1.0 - distance, 0);
  const double a = spec.cubic_a;
  Tensor square = distance * distance;
  Tensor cube = square * distance;
  Tensor near = cube * (a + 2) - square * (a + 3) + 1.0;
  Tensor far = cube * a - square * (5 * a) + distance * (8 * a) - 4 * a;
  Tensor zero = distance.Like(0);
  return Select(LessEqual(distance, 1), near,
                Select(Less(distance, 2), far, zero));
}

// Images of bytes that are resized with antialiasing are summed in fixed point
// with 22 bits, and rounded after each axis, as Pillow and ONNX Runtime do.
constexpr double kFixedOne = 1 << 22;

Tensor InFixedPoint(Tensor weight) { return Floor(weight * kFixedOne + 0.5); }

Tensor FromFixedPoint(Tensor sum) {
  return Cast(Floor(Cast(sum, DType::kF64) / kFixedOne + 0.5), DType::kF32);
}

// Returns the sum over i of weights[i] * x[sources[i]], for each result
// position along the axis.
Tensor WeightedSum(GraphBuilder& b, const ResizeSpec& spec,
                   const ResizedAxis& axis, Tensor x,
                   const std::vector<Tensor>& weights,
                   const std::vector<Tensor>& sources) {
  if (spec.fixed_point) x = Cast(x, DType::kI32);
  Tensor sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    Tensor weight = spec.fixed_point ? InFixedPoint(weights[i]) : weights[i];
    Tensor part = Gather(x, ClampedIndices(b, sources[i], axis.in), axis.axis) *
                  AlongAxis(Cast(weight, x.dtype()), axis.axis, x.rank());
    sum = sum ? sum + part : part;
  }
  return spec.fixed_point ? FromFixedPoint(sum) : sum;
}

// Returns `weight` with 0 for sources that are not elements of the axis,
// because they lie before its first or after its last element.
Tensor InsideOnly(GraphBuilder& b, const ResizedAxis& axis, Tensor weight,
                  Tensor source) {
  Tensor inside = And(LessEqual(0, source), Less(source, AsF64(b, axis.in)));
  return Select(inside, weight, weight.Like(0));
}

// Interpolates with antialiasing if the scale is only known at run time. The
// number of elements that a result reads is then open, so they form an axis of
// their own. Its extent is the largest number that the sizes allow; elements
// out of reach have the weight 0.
Tensor InterpolateOpenWindow(GraphBuilder& b, const ResizeSpec& spec,
                             const ResizedAxis& axis, Tensor x,
                             Tensor positions) {
  const Dim support(spec.mode == "linear" ? 1 : 2);
  // A result reads elements up to support / scale away. The scale is at least
  // out / in, as `out` is rounded down, and scales above 1 count as 1.
  const Dim reach =
      LargerOf(FloorDivide(axis.in * support, LargerOf(axis.out, Dim(1))),
               support) +
      Dim(1);
  const Dim taps = reach + reach + Dim(1);
  Tensor scale = Minimum(ScaleOf(b, axis), 1);
  Tensor base = Floor(positions);
  Tensor fraction = positions - base;
  if (spec.fixed_point) {
    fraction = Cast(fraction, DType::kF32);
    scale = 1.0 / (1.0 / Cast(scale, DType::kF32));
  }
  Tensor tap =
      Unsqueeze(IotaVector(b, taps, DType::kF64) - AsF64(b, reach), {0});
  Tensor weight = FilterWeight(
      spec, Absolute((Cast(tap, fraction.dtype()) - Unsqueeze(fraction, {1})) *
                     scale));
  Tensor source = Unsqueeze(base, {1}) + tap;
  if (spec.exclude_outside) weight = InsideOnly(b, axis, weight, source);
  weight = weight * (1.0 / Reduce(weight, "sum", {1}, /*keep=*/true));
  if (spec.fixed_point) {
    x = Cast(x, DType::kI32);
    weight = InFixedPoint(weight);
  }
  Shape shape(static_cast<size_t>(x.rank()) + 1, Dim(1));
  shape[static_cast<size_t>(axis.axis)] = axis.out;
  shape[static_cast<size_t>(axis.axis) + 1] = taps;
  Tensor parts = Gather(x, ClampedIndices(b, source, axis.in), axis.axis) *
                 Reshape(Cast(weight, x.dtype()), shape);
  Tensor sum = Reduce(parts, "sum", {axis.axis + 1}, /*keep=*/false);
  return spec.fixed_point ? FromFixedPoint(sum) : sum;
}

// Interpolates linearly or cubically: returns the weighted sum of input
// elements around each position.
Tensor Interpolate(GraphBuilder& b, const ResizeSpec& spec,
                   const ResizedAxis& axis, Tensor x, Tensor positions) {
  // Antialiasing widens the filter by 1 / scale if the axis shrinks, so that
  // all elements count.
  double filter_scale = 1;
  if (spec.antialias) {
    if (!axis.scale) return InterpolateOpenWindow(b, spec, axis, x, positions);
    filter_scale = std::min(*axis.scale, 1.0);
  }
  const double radius = (spec.mode == "linear" ? 1 : 2) / filter_scale;
  if (!(radius < 4096)) {
    FailUnsupported(b, "scale: expected above 1/2048 with antialias");
    return x;
  }
  const int first = static_cast<int>(std::floor(-radius)) + 1;
  // Before the first and after the last element both neighbours are that one
  // element, which is then the exact result. A weighted sum of one element with
  // itself would round, so that results that should be equal would differ. That
  // would be visible in a normalization of an axis that grew from one element,
  // or in the index of a maximum.
  if (spec.mode == "linear" && !spec.antialias) {
    positions = Maximum(Minimum(positions, AsF64(b, axis.in - Dim(1))), 0);
  }
  Tensor base = Floor(positions);
  Tensor fraction = positions - base;
  if (spec.fixed_point) {
    fraction = Cast(fraction, DType::kF32);
    filter_scale = 1.0f / (1.0f / static_cast<float>(filter_scale));
  }
  std::vector<Tensor> weights;
  std::vector<Tensor> sources;
  Tensor total;
  for (int tap = first; tap <= 1 - first; ++tap) {
    Tensor weight = FilterWeight(
        spec, Absolute((static_cast<double>(tap) - fraction) * filter_scale));
    Tensor source = base + static_cast<double>(tap);
    if (spec.exclude_outside) weight = InsideOnly(b, axis, weight, source);
    total = total ? total + weight : weight;
    weights.push_back(weight);
    sources.push_back(source);
  }
  Tensor inverse = 1.0 / total;
  for (Tensor& weight : weights) weight = weight * inverse;
  return WeightedSum(b, spec, axis, x, weights, sources);
}

Tensor ResizeAxis(GraphBuilder& b, const ResizeSpec& spec,
                  const ResizedAxis& axis, Tensor x) {
  const bool crops = spec.coordinates == "tf_crop_and_resize";
  if (IsRepetition(spec, axis)) {
    return RepeatEach(x, axis.axis, Dim(static_cast<int64_t>(*axis.scale)));
  }
  Tensor positions = SourcePositions(b, spec, axis);
  if (!b.status().ok()) return x;
  Tensor y;
  if (spec.mode == "nearest") {
    Tensor nearest = NearestPositions(b, spec.nearest, axis, positions);
    if (!b.status().ok()) return x;
    y = Gather(x, ClampedIndices(b, nearest, axis.in), axis.axis);
  } else {
    y = Interpolate(b, spec, axis, x, positions);
  }
  if (!crops || !b.status().ok()) return y;
  Tensor inside = And(LessEqual(0, positions),
                      LessEqual(positions, AsF64(b, axis.in - Dim(1))));
  return Select(AlongAxis(inside, axis.axis, x.rank()), y,
                y.Like(spec.extrapolation));
}

}  // namespace

Tensor ResizeAxes(ResizeSpec spec, const std::vector<ResizedAxis>& axes,
                  Tensor x) {
  GraphBuilder& b = x.builder();
  const DType type = x.dtype();
  spec.fixed_point = spec.antialias && DTypeByteSize(type) == 1;
  if (spec.mode != "nearest")
    x = Cast(x, type == DType::kF64 ? type : DType::kF32);
  // The innermost axis is resized first, as in other engines: if each axis
  // rounds its results, the order changes them.
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    const bool unchanged = axis->in == axis->out &&
                           (!axis->scale || *axis->scale == 1) &&
                           spec.coordinates != "tf_crop_and_resize";
    if (!unchanged && b.status().ok()) x = ResizeAxis(b, spec, *axis, x);
  }
  // Integers are rounded, as interpolation gives values between them.
  if (!IsFloat(type) && x.is_float()) x = Round(x);
  return Cast(x, type);
}

}  // namespace ember::ops
