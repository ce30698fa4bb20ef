// Requantization in integers: products by a real number that is an integer of
// 31 bits and a power of two, rounded as TensorFlow Lite does ("gemmlowp"),
// with graph operators and, for tables made when compiling, with numbers.
//
//   const FixedPoint scale = FixedPointOf(0.00123);
//   Tensor y = MultiplyByFixedPoint(accumulated, scale);   // i32 to i32
//
// A product is rounded twice: x * multiplier / 2^31 to the nearest integer,
// halves up, and that by 2^-shift to the nearest, whose halves go up or away
// from zero: TensorFlow Lite's optimized kernels for products of matrices do
// the first, its other kernels and the reference the second.
//
// Source: Jacob et al., Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference (2017), section 2.2, and the
// gemmlowp library's SaturatingRoundingDoublingHighMul and
// RoundingDivideByPOT. Values, functions of values: thread-safe.
#ifndef EMBER_FRONTENDS_OPS_FIXED_POINT_H_
#define EMBER_FRONTENDS_OPS_FIXED_POINT_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// multiplier * 2^(shift - 31), with a multiplier of 0 or in [2^30, 2^31).
struct FixedPoint {
  int32_t multiplier = 0;
  int shift = 0;
  bool operator==(const FixedPoint&) const = default;
};

// The nearest; 0 for what is below 2^-32. The value is finite and not negative.
FixedPoint FixedPointOf(double value);

// Where numbers halfway between two integers go.
enum class Halves : uint8_t { kUp, kAwayFromZero };

// Of i32; per element of the last dim where there are several.
Tensor MultiplyByFixedPoint(Tensor x, const FixedPoint& scale,
                            Halves halves = Halves::kAwayFromZero);
Tensor MultiplyByFixedPoint(Tensor x, const std::vector<FixedPoint>& scales,
                            Halves halves = Halves::kAwayFromZero);

// The same of numbers, halves away from zero. Sums that a left shift takes out
// of 32 bits wrap, as the tensors' do.
int32_t MultiplyByFixedPoint(int32_t x, const FixedPoint& scale);

// 1 / sqrt(value) by Newton's method on fixed point numbers, as TensorFlow Lite
// and gemmlowp compute it. Of 0, and of less, it is that of 1.
FixedPoint InverseRootOf(int32_t value);

// Of i64 sums, as operators with 16-bit activations and 64-bit sums round:
// once, by a multiplier of 15 bits.
Tensor MultiplyWideByFixedPoint(Tensor x,
                                const std::vector<FixedPoint>& scales);

// The nearest whole number, halves away from zero.
Tensor RoundHalfAway(Tensor x);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FIXED_POINT_H_
