// Requantization in integers: multiplies by a real number that is given as a
// 31-bit integer and a power of two, and rounds like TensorFlow Lite
// ("gemmlowp"). There are forms for graph operators and, for tables made when
// compiling, for numbers.
//
//   const FixedPoint scale = FixedPointOf(0.00123);
//   Tensor y = MultiplyByFixedPoint(accumulated, scale);   // i32 to i32
//
// A product is rounded twice: first x * multiplier / 2^31 to the nearest
// integer, halves up; then its product with 2^shift to the nearest integer.
// Halves of the second rounding go up in TensorFlow Lite's optimized kernels
// for products of matrices, and away from zero in its other kernels and the
// reference.
//
// Source: Jacob et al., Quantization and Training of Neural Networks for
// Efficient Integer-Arithmetic-Only Inference (2017), section 2.2, and the
// gemmlowp library's SaturatingRoundingDoublingHighMul and RoundingDivideByPOT.
// Values, functions of values: thread-safe.
#ifndef EMBER_FRONTENDS_OPS_FIXED_POINT_H_
#define EMBER_FRONTENDS_OPS_FIXED_POINT_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// A real number, multiplier * 2^(shift - 31). The multiplier is 0 or in [2^30,
// 2^31).
struct FixedPoint {
  int32_t multiplier = 0;
  int shift = 0;
  bool operator==(const FixedPoint&) const = default;
};

// Returns the fixed-point number that is nearest to `value`; 0 for values below
// 2^-32. The value must be finite and not negative.
FixedPoint FixedPointOf(double value);

// The direction in which numbers halfway between two integers are rounded.
enum class Halves : uint8_t { kUp, kAwayFromZero };

// These functions multiply i32 tensors by one scale, or by a scale per element
// of the last dim.
Tensor MultiplyByFixedPoint(Tensor x, const FixedPoint& scale,
                            Halves halves = Halves::kAwayFromZero);
Tensor MultiplyByFixedPoint(Tensor x, const std::vector<FixedPoint>& scales,
                            Halves halves = Halves::kAwayFromZero);

// Multiplies a number by a scale like the function for tensors, and rounds
// halves away from zero. Like that function it wraps if a left shift exceeds 32
// bits.
int32_t MultiplyByFixedPoint(int32_t x, const FixedPoint& scale);

// Returns 1 / sqrt(value), by Newton's method on fixed-point numbers, as
// TensorFlow Lite and gemmlowp compute it. For a value of 0 or less it returns
// the result for 1.
FixedPoint InverseRootOf(int32_t value);

// Multiplies i64 sums by multipliers of 15 bits, and rounds once. It is for
// operators with 16-bit activations and 64-bit sums.
Tensor MultiplyWideByFixedPoint(Tensor x,
                                const std::vector<FixedPoint>& scales);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FIXED_POINT_H_
