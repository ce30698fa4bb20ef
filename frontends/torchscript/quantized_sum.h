// Sums of quantized tensors in the integers that QNNPACK computes with.
//
//   // q = round((a - za) * ma / 2^s + (b - zb) * mb / 2^s) + z, halves away
//   // from zero, where ma / 2^s is the scale of a divided by that of the result
//   const std::optional<SumFactors> factors = FactorsOf(0.1, 0.2, 0.15);
//   const Tensor q = QuantizedSum(a, b, *factors) + z;
//
// The factors have 22 bits, so about one element in 30,000 is one step away
// from the sum of the real numbers that is rounded once. Whole networks are
// equal to PyTorch's only with the same factors. Thread-safe.
//
// Source: QNNPACK (github.com/pytorch/QNNPACK), operator add, u8.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_SUM_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_SUM_H_

#include <cstdint>
#include <optional>

#include "frontends/ops/tensor.h"

namespace ember::torchscript {

// The integer factors of the operands of a sum: the operand's scale divided by
// the result's scale, times 2^shift.
struct SumFactors {
  int64_t a = 0, b = 0;
  int shift = 0;
};

// Returns nullopt if QNNPACK refuses the scales: the larger quotient of scales
// must be at least 2^-14 and below 2^8.
std::optional<SumFactors> FactorsOf(double a_scale, double b_scale,
                                    double result_scale);

// Returns the quantized sums as i32. The caller must still add the result's
// zero point and clamp to u8.
ops::Tensor QuantizedSum(const ops::Tensor& a, const ops::Tensor& b,
                         const SumFactors& factors);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_QUANTIZED_SUM_H_
