// Hyperbolic functions by e^x, and their inverses by log(1 + x).
#include <cmath>
#include <limits>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

constexpr double kLog2 = 0x1.62e42fefa39efp-1;
// If a is larger than this number, a + sqrt(a^2 + 1) rounds to 2 a. Such a are
// treated separately, because a * a could overflow.
constexpr double kLarge = 0x1p60;

}  // namespace

// Returns sinh x: x + x^3 P(x^2) for |x| < 1, otherwise (e^|x| - e^-|x|) / 2
// with the sign of x.
Term ExpandSinh(Term x) {
  const Term a = Absolute(x);
  const Term z = x * x;
  const Term near = x + x * (z * Polynomial(z, Pick(x, kSinhF32, kSinhF64)));
  const Term half = HalfExp(a);
  return Select(a < 1.0, near, WithSign(half - 0.25 / half, x));
}

Term ExpandCosh(Term x) {
  const Term half = HalfExp(Absolute(x));
  return half + 0.25 / half;
}

// Returns tanh x = q = e / (e + 2) with e = exp(2 |x|) - 1, with the sign of x.
// (The formula with exp(-2 |x|) would count errors of e twice where the result
// is near 1.) If e < 1, the equal e / 2 - q e / 2 is used, where the rounding
// of e + 2 matters less.
Term ExpandTanh(Term x) {
  const Term a = Absolute(x);
  const Term e = Expm1OfSmall(AtMost(a + a, Pick(x, 20, 44)));
  const Term quotient = e / (e + 2.0);
  const Term half = e * 0.5;
  const Term result = Select(e < 1.0, half - half * quotient, quotient);
  return WithSign(result, x);
}

// Returns asinh x, with the sign of x: for a = |x|, asinh a = log(a + sqrt(a^2
// + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))). If a is above kLarge, log1p(a)
// + log 2 is used.
Term ExpandAsinh(Term x) {
  const Term a = Absolute(x);
  const Term is_large = kLarge < a;
  const Term z = a * a;
  const Term sum = a + z / (Sqrt(z + 1.0) + 1.0);
  const Term logarithm = ExpandLog1p(Select(is_large, a, sum));
  return WithSign(Select(is_large, logarithm + kLog2, logarithm), x);
}

// Returns acosh x = log(x + sqrt(x^2 - 1)) = log1p(t + sqrt(2 t + t^2)) with t
// = x - 1; log1p(x) + log 2 for x above kLarge, and NaN for x below 1.
Term ExpandAcosh(Term x) {
  const Term is_large = kLarge < x;
  const Term t = x - 1.0;
  const Term sum = t + Sqrt(t * (t + 2.0));
  const Term logarithm = ExpandLog1p(Select(is_large, x, sum));
  const Term result = Select(is_large, logarithm + kLog2, logarithm);
  return Select(x < 1.0, std::numeric_limits<double>::quiet_NaN(), result);
}

// Returns atanh x, which is atanh a with the sign of x, for a = |x|: atanh a =
// log((1 + a) / (1 - a)) / 2 = log1p(2 a / (1 - a)) / 2.
Term ExpandAtanh(Term x) {
  const Term a = Absolute(x);
  return WithSign(ExpandLog1p((a + a) / (1.0 - a)) * 0.5, x);
}

}  // namespace ember::jit
