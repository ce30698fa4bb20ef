#include "frontends/torchscript/quantized_sum.h"

#include <algorithm>
#include <cmath>

#include "frontends/ops/functions.h"

namespace ember::torchscript {
namespace {

using ops::Opcode;
using ops::Tensor;

// Number of bits of the larger one of the two integer factors. The smaller
// factor is in the same unit, a power of two.
constexpr int kFactorBits = 22;

}  // namespace

std::optional<SumFactors> FactorsOf(double a_scale, double b_scale,
                                    double result_scale) {
  // The quotients are f32, as in QNNPACK, so that the factors have the same
  // bits.
  const float a =
      static_cast<float>(a_scale) / static_cast<float>(result_scale);
  const float b =
      static_cast<float>(b_scale) / static_cast<float>(result_scale);
  const float larger = std::max(a, b);
  if (!(larger >= 0x1p-14f && larger < 0x1p+8f)) return std::nullopt;
  SumFactors factors;
  factors.shift = kFactorBits - 1 - std::ilogb(larger);
  factors.a = std::lrint(std::ldexp(a, factors.shift));
  factors.b = std::lrint(std::ldexp(b, factors.shift));
  return factors;
}

Tensor QuantizedSum(const Tensor& a, const Tensor& b,
                    const SumFactors& factors) {
  // The products are below 2^30 each, so their sum fits i32.
  const Tensor sum =
      a * static_cast<double>(factors.a) + b * static_cast<double>(factors.b);
  const Tensor whole = ops::Binary(
      Opcode::kShiftRight, sum, sum.Like(static_cast<double>(factors.shift)));
  const Tensor rest =
      sum - ops::Binary(Opcode::kShiftLeft, whole,
                        sum.Like(static_cast<double>(factors.shift)));
  const double half = std::ldexp(1.0, factors.shift - 1);
  // Halves are rounded away from zero: up if the sum is at least 0, else down.
  const Tensor is_negative = ops::Cast(ops::Less(sum, 0), DType::kI32);
  const Tensor is_up = ops::LessEqual(is_negative + half, rest);
  return whole + ops::Cast(is_up, DType::kI32);
}

}  // namespace ember::torchscript
