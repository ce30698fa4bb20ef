#include "frontends/tflite/hybrid.h"

#include <vector>

#include "frontends/ops/functions.h"

namespace ember::tflite {
namespace {

std::vector<int64_t> DimsFrom(int first, int rank) {
  std::vector<int64_t> axes;
  for (int i = first; i < rank; ++i) axes.push_back(i);
  return axes;
}

// Replaces a scale of 0 by 1. It is 0 only if all elements of the row are 0,
// which any scale represents.
Tensor OrOne(Tensor x) { return Select(Equal(x, 0), x.Like(1), x); }

Hybrid Symmetric(Tensor x, const std::vector<int64_t>& axes) {
  constexpr double kHighest = 127;
  const Tensor range =
      OrOne(Reduce(Absolute(x), "maximum", axes, /*keep=*/true));
  const Tensor rounded = ops::RoundHalfAway(x * (kHighest / range));
  return {Cast(Minimum(Maximum(rounded, -kHighest), kHighest), DType::kI32),
          range / kHighest};
}

Hybrid Asymmetric(Tensor x, const std::vector<int64_t>& axes) {
  constexpr double kLowest = -128, kHighest = 127;
  // TensorFlow Lite computes scales and zero points in double, so they are
  // computed in f64.
  const Tensor least =
      Cast(Minimum(Reduce(x, "minimum", axes, /*keep=*/true), 0), DType::kF64);
  const Tensor most =
      Cast(Maximum(Reduce(x, "maximum", axes, /*keep=*/true), 0), DType::kF64);
  const Tensor scale = OrOne(most - least) / (kHighest - kLowest);
  const Tensor from_least = kLowest - least / scale;
  const Tensor from_most = kHighest - most / scale;
  const Tensor least_error = Absolute(least / scale) - kLowest;
  const Tensor most_error = Absolute(most / scale) + kHighest;
  const Tensor exact =
      Select(Less(least_error, most_error), from_least, from_most);
  const Tensor zero =
      Minimum(Maximum(ops::RoundHalfAway(exact), kLowest), kHighest);
  const Tensor narrow_scale = Cast(scale, DType::kF32);
  const Tensor narrow_zero = Cast(zero, DType::kF32);
  const Tensor rounded =
      ops::RoundHalfAway(narrow_zero + x * (1.0 / narrow_scale));
  const Tensor stored = Minimum(Maximum(rounded, kLowest), kHighest);
  return {Cast(stored - narrow_zero, DType::kI32), narrow_scale};
}

}  // namespace

Hybrid QuantizeRows(Tensor x, int row_dims, Rounding rounding) {
  const std::vector<int64_t> axes = DimsFrom(row_dims, x.rank());
  return rounding == Rounding::kSymmetric ? Symmetric(x, axes)
                                          : Asymmetric(x, axes);
}

Tensor RealSums(OperatorContext& c, Tensor sums, const Hybrid& hybrid,
                const Quantization& weights, Tensor bias) {
  const Tensor real = Cast(sums, DType::kF32);
  Tensor y;
  if (weights.per_tensor()) {
    y = real * (hybrid.scale * static_cast<double>(weights.scale()));
  } else {
    y = real * hybrid.scale *
        AlongAxis(c.Vector(DType::kF32, weights.scales), sums.rank() - 1,
                  sums.rank());
  }
  return bias ? y + bias : y;
}

}  // namespace ember::tflite
