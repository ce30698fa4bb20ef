// log x = k ln 2 + log m with m near 1. log m = log(1 + f) = f + y, where f is
// exact and y is small, so that rounding loses little in the sum of the three.
#include <cmath>
#include <limits>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Returns the lower end of the mantissas m = 1 + f. The polynomial of f32 is
// fitted to f from -1/3 to 1/3, and that of f64 to m from sqrt(1/2) to sqrt(2).
double LowestMantissa(Term x) { return Pick(x, 2.0 / 3, std::sqrt(0.5)); }

// Returns log(1 + f) - f, for f32 by a polynomial in f. For f64 a polynomial in
// s = f / (2 + f) is used, which needs far fewer terms.
Term LogLessArgument(Term f) {
  if (f.is_f32()) {
    const Term square = f * f;
    return square * f * Polynomial(f, kLogF32) - square * 0.5;
  }
  const Term s = f / (f + 2.0);
  const Term z = s * s;
  return s * (z * Polynomial(z, kLogF64) - f);
}

Term AddExponent(Term f, Term y, Term k) {
  const std::span<const double> log2 = Pick(f, kLog2PartsF32, kLog2PartsF64);
  return k * log2[0] + (f + (y + k * log2[1]));
}

// Returns `result` for positive finite x, and otherwise the function's special
// values: infinity for infinity, -infinity for 0, NaN for negative numbers and
// NaN. offset: 0 for log x; 1 for log1p x, whose special values are those of
// log(x + 1).
Term WithSpecialValues(Term x, Term result, double offset) {
  return Select(-offset < x, Select(x < kInfinity, result, x),
                Select(x == -offset, -kInfinity, x.Number(kNan)));
}

}  // namespace

double ExponentBias(Term x) {
  const FloatFormat& format = FormatOf(x);
  return std::ldexp(1.0, format.mantissa_bits) + format.bias;
}

Normalized Normalize(Term x) {
  const FloatFormat& format = FormatOf(x);
  const Term is_subnormal = x < format.smallest_normal;
  const double scale = std::ldexp(1.0, format.mantissa_bits);
  const double bias = ExponentBias(x);
  return {Select(is_subnormal, x * scale, x),
          Select(is_subnormal, x.Number(bias + format.mantissa_bits),
                 x.Number(bias))};
}

Mantissa SplitMantissa(Term x, double low, Term exponent_bias) {
  const FloatFormat& format = FormatOf(x);
  const Term bits = AsBits(x);
  const uint64_t low_bits = tensor::DoubleToBits(low, x.type());
  const uint64_t one_bits = tensor::DoubleToBits(1, x.type());
  const Term shifted =
      Binary(tensor::Opcode::kAdd, bits, bits.Bits(one_bits - low_bits));
  // In the float 2^mantissa_bits + e, the low bits of the mantissa are the
  // integer e. So inserting the biased exponent as those bits converts it to a
  // float.
  const uint64_t magic =
      tensor::DoubleToBits(std::ldexp(1.0, format.mantissa_bits), x.type());
  const Term exponent =
      AsFloat((shifted >> format.mantissa_bits) | magic) - exponent_bias;
  const Term m = AsFloat(Binary(tensor::Opcode::kAdd, shifted & format.mantissa,
                                bits.Bits(low_bits)));
  return {m, exponent, shifted & ~(format.sign | format.mantissa)};
}

Term ExpandLog(Term x) {
  const Normalized normalized = Normalize(x);
  const Mantissa split =
      SplitMantissa(normalized.x, LowestMantissa(x), normalized.exponent_bias);
  const Term f = split.m - 1.0;
  const Term result = AddExponent(f, LogLessArgument(f), split.exponent);
  return WithSpecialValues(x, result, 0);
}

// Returns log1p x, the logarithm of u = 1 + x. The rounding error of u is
// scaled like u's mantissa m and added to f = m - 1.
Term ExpandLog1p(Term x) {
  const FloatFormat& format = FormatOf(x);
  const Term u = x + 1.0;
  const Term lost = x - (u - 1.0);
  const Mantissa split =
      SplitMantissa(u, LowestMantissa(x), x.Number(ExponentBias(x)));
  // The scale is 2^(1-k), where k is u's exponent. For the largest k it becomes
  // 0 instead of a subnormal number, which does no harm: for such a large u no
  // part was lost by rounding.
  const uint64_t two_bits = tensor::DoubleToBits(2, x.type());
  const uint64_t bias_bits = static_cast<uint64_t>(format.bias)
                             << format.mantissa_bits;
  const Term scale = AsFloat(Binary(
      tensor::Opcode::kSubtract, split.exponent_bits.Bits(two_bits + bias_bits),
      split.exponent_bits));
  const Term high = split.m - 1.0;
  const Term low = lost * scale * 0.5;
  const Term f = high + low;
  const Term y = LogLessArgument(f) + ((high - f) + low);
  const Term result = WithSign(AddExponent(f, y, split.exponent), x);
  return WithSpecialValues(x, result, 1);
}

}  // namespace ember::jit
