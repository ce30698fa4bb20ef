// x^y = 2^(y log2 |x|). The logarithm and the product with y have one and a
// half times the precision of the type. Both are held as sums of two numbers,
// of which the first has half of the type's bits, so that products of two first
// parts are exact.
#include <cmath>
#include <limits>
#include <optional>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Sum {
  // The larger part; only the upper half of the type's bits are used, so that
  // products are exact.
  Term high;
  Term low;
};

// Returns log2 of a positive finite number x = m * 2^exponent. With s = (m - 1)
// / (m + 1) and z = s^2, the formula is log m = 2/3 s (3 + z + z^2 P(z)).
Sum Log2(Term x) {
  const Normalized normalized = Normalize(x);
  const auto [m, exponent, unused] =
      SplitMantissa(normalized.x, std::sqrt(0.5), normalized.exponent_bias);
  const Term f = m - 1.0;
  // The divisor m + 1 needs one bit more than the type has, so it is held as a
  // sum of two numbers.
  const Term divisor = m + 1.0;
  const Term divisor_high = UpperHalf(divisor);
  const Term divisor_low = m - (divisor_high - 1.0);
  const Term inverse = 1.0 / divisor;
  const Term s = f * inverse;
  const Term s_high = UpperHalf(s);
  const Term s_low =
      ((f - s_high * divisor_high) - s_high * divisor_low) * inverse;
  const Term z = s * s;
  const Term z_high = s_high * s_high;
  const Term rest = z * z * Polynomial(z, Pick(x, kLogRatioF32, kLogRatioF64)) +
                    s_low * (s_high + s);
  const Term sum_high = UpperHalf((z_high + 3.0) + rest);
  const Term sum_low = rest - ((sum_high - 3.0) - z_high);
  // The logarithm is s * sum * 2 / (3 ln 2) + exponent. These lines compute the
  // product s * sum first, as a sum of two numbers.
  const Term product = s_high * sum_high;
  const Term product_rest = s_low * sum_high + sum_low * s;
  const Term high = UpperHalf(product + product_rest);
  const Term low = product_rest - (high - product);
  const std::span<const double> ratio =
      Pick(x, kRatioToLog2PartsF32, kRatioToLog2PartsF64);
  const Term scaled_high = high * ratio[0];
  const Term scaled_low = high * ratio[1] + low * (ratio[0] + ratio[1]);
  const Term log_high = UpperHalf((scaled_high + scaled_low) + exponent);
  return {log_high, scaled_low - ((log_high - exponent) - scaled_high)};
}

// Returns 2^(high + low). The result is 0 or infinite if it is out of the
// type's range.
Term Exp2(Term high, Term low) {
  const FloatFormat& format = FormatOf(high);
  const double bound = Pick(high, 160, 1100);
  const double magic = format.integer_magic + 2 * format.bias;
  const Term bounded = AtMost(AtLeast(high + low, -bound), bound);
  const Term sum = bounded + magic;
  const Term n = sum - magic;
  // If the exponent was cut to the bound, r may be any number. The result is
  // then 0 or infinite, unless r is very small, so r is limited.
  const Term r = AtLeast((high - n) + low, -1);
  const Term power = 1.0 + r * Polynomial(r, Pick(r, kExp2F32, kExp2F64));
  const Term bits = AsBits(sum);
  const Term half = bits >> 1;
  const Term other = Binary(tensor::Opcode::kSubtract, bits, half);
  return power * AsFloat(half << format.mantissa_bits) *
         AsFloat(other << format.mantissa_bits);
}

// Returns |x|^y for y other than 0, also if x is zero or infinite. If x is NaN,
// the result is not meaningful.
Term PowerOfMagnitude(Term magnitude, Term y) {
  const Sum log = Log2(magnitude);
  // An exponent beyond this bound gives the same as the bound: 0 or infinity,
  // except that powers of 1 are 1.
  const double bound = Pick(y, 0x1p32, 0x1p64);
  const Term exponent = AtMost(AtLeast(y, -bound), bound);
  const Term y_high = UpperHalf(exponent);
  const Term low = (exponent - y_high) * log.high + exponent * log.low;
  const Term finite = Exp2(y_high * log.high, low);
  const Term is_zero = magnitude == 0.0;
  const Term is_infinite = magnitude == kInfinity;
  const Term extreme =
      Select(is_zero ^ (y < 0.0), y.Number(0), y.Number(kInfinity));
  return Select(is_zero | is_infinite, extreme, finite);
}

// Returns the power for a constant exponent that has a better formula than the
// general one, such as 2 or 0.5; otherwise nothing.
std::optional<Term> PowerOfConstant(Term x, Term y) {
  if (!y.pool().IsConstant(y.id())) return std::nullopt;
  const double exponent =
      tensor::BitsToDouble(y.pool()[y.id()].immediate, y.type());
  if (exponent == 0) return x.Number(1);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == 4) return (x * x) * (x * x);
  if (exponent == -1) return 1.0 / x;
  // The power is sqrt(x) except for two special values: -0 gives 0, and
  // -infinity gives infinity.
  if (exponent == 0.5) {
    return Select(x == -kInfinity, kInfinity, Sqrt(x + 0.0));
  }
  return std::nullopt;
}

}  // namespace

Term ExpandPower(Term x, Term y) {
  if (const std::optional<Term> power = PowerOfConstant(x, y)) return *power;
  const Term power = PowerOfMagnitude(Absolute(x), y);
  const Term half = y * 0.5;
  const Term is_integer = Floor(y) == y;
  const Term is_odd = is_integer & (Floor(half) != half);
  const Term sign = Select(is_odd, SignOf(x), AsBits(x).Bits(0));
  const Term is_undefined = (x < 0.0) & (-kInfinity < x) & (Floor(y) != y);
  const Term real = Select(is_undefined, kNan, FlipSign(power, sign));
  const Term is_number = (x == x) & (y == y);
  const Term or_nan = Select(is_number, real, kNan);
  return Select((y == 0.0) | (x == 1.0), 1.0, or_nan);
}

// Returns an integer power by repeated squaring, one step for each bit of the
// exponent's magnitude.
Term ExpandIntegerPower(Term x, Term y) {
  using tensor::Opcode;
  const int bits = 8 * DTypeByteSize(x.type());
  const Term zero = x.Bits(0), one = x.Bits(1);
  const int steps = IsSigned(x.type()) ? bits - 1 : bits;
  Term result = one, square = x;
  for (int i = 0; i < steps; ++i) {
    const Term is_set = (y & (uint64_t{1} << i)) != zero;
    result = result * Select(is_set, square, one);
    if (i + 1 < steps) square = square * square;
  }
  if (!IsSigned(x.type())) return result;
  // A power with negative y is the integer part of 1 / x^|y|, which is other
  // than 0 only if x is 1 or -1.
  const Term minus_one = x.Bits(tensor::IntegerToBits(-1, x.type()));
  const Term is_odd = (y & 1) != zero;
  const Term of_minus_one = Select(is_odd, x, one);
  const Term inverse =
      Select(x == one, one, Select(x == minus_one, of_minus_one, zero));
  return Select(y < zero, inverse, result);
}

}  // namespace ember::jit
