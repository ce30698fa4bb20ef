// e^x = 2^n * e^r with n = round(x / ln 2), |r| <= ln 2 / 2.
//
// Adding a magic number rounds x / ln 2 to an integer and leaves it in the low
// bits of the sum; the magic number also contains exponent biases, so that a
// shift makes the powers of 2. n * ln 2 is subtracted in two parts, of which
// the first product is exact.
#include <cmath>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

struct Reduced {
  Value bits;  // n + bias in the lowest bits, zeros above up to the exponent
  Value r;
  Value rest;  // what is lost in the rounding of r
};

Reduced ReduceByLog2(Value x, int bias) {
  const FloatFormat& format = FormatOf(x);
  const double magic = format.integer_magic + bias;
  const std::span<const double> log2 = Pick(x, kLog2PartsF32, kLog2PartsF64);
  const Value sum = x * (1 / std::log(2.0)) + magic;
  const Value n = sum - magic;
  const Value high = x - n * log2[0];
  const Value low = n * log2[1];
  const Value r = high - low;
  return {AsBits(sum), r, (high - r) - low};
}

// e^r - 1 - r, from r^2 / 2 on.
Value Curve(Value r) {
  return r * r * Polynomial(r, Pick(r, kExpm1F32, kExpm1F64));
}

// The power of 2 whose biased exponent is in the low bits.
Value PowerOfTwo(Value biased_exponent, Value x) {
  return AsFloat(biased_exponent << FormatOf(x).mantissa_bits);
}

// 2^(n + shift) * e^r in two steps: the first power of 2 is always a normal
// number, the product with the second rounds only where the result is
// subnormal or infinite.
Value ScaledExp(Value x, int shift) {
  const Reduced reduced = ReduceByLog2(x, 2 * FormatOf(x).bias + shift);
  const Value half = reduced.bits >> 1;
  const Value first = PowerOfTwo(half, x);
  const Value second =
      PowerOfTwo(Binary(tensor::Opcode::kSubtract, reduced.bits, half), x);
  return (1.0 + (reduced.r + Curve(reduced.r))) * first * second;
}

}  // namespace

Value ExpandExp(Value x) {
  return ScaledExp(AtMost(AtLeast(x, Pick(x, -104, -746)), Pick(x, 89, 710)),
                   0);
}

Value HalfExp(Value x) { return ScaledExp(AtMost(x, Pick(x, 90, 711)), -1); }

Value ExpOfSmall(Value x) {
  const Reduced reduced = ReduceByLog2(x, FormatOf(x).bias);
  return (1.0 + (reduced.r + Curve(reduced.r))) * PowerOfTwo(reduced.bits, x);
}

Value Exp2OfSmall(Value x) {
  const FloatFormat& format = FormatOf(x);
  const double magic = format.integer_magic + format.bias;
  const Value sum = x + magic;
  const Value r = x - (sum - magic);
  const Value power = 1.0 + r * Polynomial(r, Pick(r, kExp2F32, kExp2F64));
  return power * PowerOfTwo(AsBits(sum), x);
}

// 2^n (r + s) + (2^n - 1), the largest terms added first.
Value Expm1OfSmall(Value x) {
  const Reduced reduced = ReduceByLog2(x, FormatOf(x).bias);
  const Value power = PowerOfTwo(reduced.bits, x);
  const Value s = Curve(reduced.r) + reduced.rest;
  return (power * reduced.r + (power - 1.0)) + power * s;
}

// Half of it, so that 2^(n-1) does not overflow, doubled. Tiny x are their own
// result: halves of subnormal numbers and the sign of 0 would be lost.
Value ExpandExpm1(Value x) {
  const Value bounded = AtMost(AtLeast(x, Pick(x, -20, -40)), Pick(x, 89, 710));
  const Reduced reduced = ReduceByLog2(bounded, FormatOf(x).bias - 1);
  const Value half = PowerOfTwo(reduced.bits, x);
  const Value s = Curve(reduced.r) + reduced.rest;
  const Value result = ((half * reduced.r + (half - 0.5)) + half * s) * 2.0;
  return Select(Absolute(x) < Pick(x, 0x1p-25, 0x1p-54), x, result);
}

}  // namespace ember::jit
