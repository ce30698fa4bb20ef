// e^x = 2^n * e^r with n = round(x / ln 2), |r| <= ln 2 / 2.
//
// Adding a magic number rounds x / ln 2 to an integer and leaves it in the low
// bits of the sum. The magic number also contains exponent biases, so that one
// shift makes the powers of 2. n * ln 2 is subtracted in two parts; the product
// with the first part is exact.
#include <cmath>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

struct Reduced {
  // The biased exponent n + bias is in the low bits. The bits above them, up to
  // those of the float's exponent, are zeros.
  Term bits;
  Term r;
  Term rest;  // the part of r that was lost when r was rounded
};

Reduced ReduceByLog2(Term x, int bias) {
  const FloatFormat& format = FormatOf(x);
  const double magic = format.integer_magic + bias;
  const std::span<const double> log2 = Pick(x, kLog2PartsF32, kLog2PartsF64);
  const Term sum = x * (1 / std::log(2.0)) + magic;
  const Term n = sum - magic;
  const Term high = x - n * log2[0];
  const Term low = n * log2[1];
  const Term r = high - low;
  return {AsBits(sum), r, (high - r) - low};
}

// Returns e^r - 1 - r, by the terms of the series from r^2 / 2 on.
Term Curve(Term r) {
  return r * r * Polynomial(r, Pick(r, kExpm1F32, kExpm1F64));
}

// Returns the power of 2 whose biased exponent is in the low bits of
// `biased_exponent`.
Term PowerOfTwo(Term biased_exponent, Term x) {
  return AsFloat(biased_exponent << FormatOf(x).mantissa_bits);
}

// Returns e^x * 2^shift = 2^(n + shift) * e^r, where n and r are those of
// ReduceByLog2. It multiplies by two powers of 2: the first is always a normal
// number, and the product with the second rounds only if the result is
// subnormal or infinite.
Term ScaledExp(Term x, int shift) {
  const Reduced reduced = ReduceByLog2(x, 2 * FormatOf(x).bias + shift);
  const Term half = reduced.bits >> 1;
  const Term first = PowerOfTwo(half, x);
  const Term second =
      PowerOfTwo(Binary(tensor::Opcode::kSubtract, reduced.bits, half), x);
  return (1.0 + (reduced.r + Curve(reduced.r))) * first * second;
}

}  // namespace

Term ExpandExp(Term x) {
  return ScaledExp(AtMost(AtLeast(x, Pick(x, -104, -746)), Pick(x, 89, 710)),
                   0);
}

Term HalfExp(Term x) { return ScaledExp(AtMost(x, Pick(x, 90, 711)), -1); }

Term ExpOfSmall(Term x) {
  const Reduced reduced = ReduceByLog2(x, FormatOf(x).bias);
  return (1.0 + (reduced.r + Curve(reduced.r))) * PowerOfTwo(reduced.bits, x);
}

Term Exp2OfSmall(Term x) {
  const FloatFormat& format = FormatOf(x);
  const double magic = format.integer_magic + format.bias;
  const Term sum = x + magic;
  const Term r = x - (sum - magic);
  const Term power = 1.0 + r * Polynomial(r, Pick(r, kExp2F32, kExp2F64));
  return power * PowerOfTwo(AsBits(sum), x);
}

// Returns e^x - 1 for x from -80 to 80, by the formula 2^n (r + s) + (2^n - 1)
// with s = e^r - 1 - r. The largest terms are added first, so that the sum
// loses little by rounding.
Term Expm1OfSmall(Term x) {
  const Reduced reduced = ReduceByLog2(x, FormatOf(x).bias);
  const Term power = PowerOfTwo(reduced.bits, x);
  const Term s = Curve(reduced.r) + reduced.rest;
  return (power * reduced.r + (power - 1.0)) + power * s;
}

// Returns expm1 x. Computes half the result, so that 2^(n-1) does not overflow,
// and doubles it. Tiny x are returned as they are: halving would lose the low
// bits of subnormal numbers and the sign of 0.
Term ExpandExpm1(Term x) {
  const Term bounded = AtMost(AtLeast(x, Pick(x, -20, -40)), Pick(x, 89, 710));
  const Reduced reduced = ReduceByLog2(bounded, FormatOf(x).bias - 1);
  const Term half = PowerOfTwo(reduced.bits, x);
  const Term s = Curve(reduced.r) + reduced.rest;
  const Term result = ((half * reduced.r + (half - 0.5)) + half * s) * 2.0;
  return Select(Absolute(x) < Pick(x, 0x1p-25, 0x1p-54), x, result);
}

}  // namespace ember::jit
