// Arc functions: odd polynomials near 0, and identities that reduce other
// arguments to them.
#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

constexpr double kPi = 0x1.921fb54442d18p1;

// Returns the rounding error of multiple * pi in the type of x: the exact
// product minus the rounded one.
double LostOf(Term x, double multiple) {
  // pi minus kPi
  constexpr double kLostF64 = 0x1.1a62633145c07p-53;
  const double exact = multiple * kPi;
  return x.is_f32() ? exact - static_cast<double>(static_cast<float>(exact))
                    : multiple * kLostF64;
}

// A multiple of pi that a kernel chooses at run time between constants: the
// rounded value, and its rounding error.
struct Multiple {
  Term high;
  Term low;
};
Multiple MultipleOfPi(Term x, double multiple) {
  return {x.Number(multiple * kPi), x.Number(LostOf(x, multiple))};
}
Multiple Choose(Term condition, Multiple a, Multiple b) {
  return {Select(condition, a.high, b.high), Select(condition, a.low, b.low)};
}
Term Plus(Multiple multiple, Term a) {
  return multiple.high + (a + multiple.low);
}

// The arc sine of a number a >= 0. `value` is asin a or, if `is_large` (a >
// 0.55), asin sqrt((1 - a) / 2), from which this identity gives asin a:
//   asin a = pi / 2 - 2 asin sqrt((1 - a) / 2)   for a > 0.55.
struct ArcSine {
  Term is_large;
  Term value;
};
ArcSine ReducedArcSine(Term a) {
  const Term is_large = 0.55 < a;
  const Term halved = (1.0 - a) * 0.5;
  const Term z = Select(is_large, halved, a * a);
  const Term s = Select(is_large, Sqrt(halved), a);
  const Term cubic = z * Polynomial(z, Pick(a, kAsinF32, kAsinF64));
  return {is_large, s + s * cubic};
}

// Returns base + atan t for |t| up to sqrt 2 - 1. These identities reduce
// larger arguments:
//   atan q = pi / 2 + atan(-1 / q)            for q > 1 + sqrt 2
//   atan q = pi / 4 + atan((q - 1) / (q + 1)) for q > sqrt 2 - 1
Term ArcTangent(Term t, Multiple base) {
  const Term z = t * t;
  const Term cubic = z * Polynomial(z, Pick(t, kAtanF32, kAtanF64));
  return base.high + (t + (t * cubic + base.low));
}

constexpr double kSqrt2 = 0x1.6a09e667f3bcdp0;

}  // namespace

Term ExpandAsin(Term x) {
  const Term a = Absolute(x);
  const ArcSine arc = ReducedArcSine(a);
  const Multiple half_pi = MultipleOfPi(x, 0.5);
  const Term large = (half_pi.high - arc.value * 2.0) + half_pi.low;
  return WithSign(Select(arc.is_large, large, arc.value), x);
}

// Returns acos x = pi / 2 - asin x. If |x| is large, the identity of
// ReducedArcSine gives 2 asin sqrt((1 - |x|) / 2) for positive x, and pi minus
// that for negative x.
Term ExpandAcos(Term x) {
  const ArcSine arc = ReducedArcSine(Absolute(x));
  const Term magnitude = Select(arc.is_large, arc.value * 2.0, -arc.value);
  const Multiple none = MultipleOfPi(x, 0);
  const Multiple large = Choose(x < 0.0, MultipleOfPi(x, 1), none);
  const Multiple base = Choose(arc.is_large, large, MultipleOfPi(x, 0.5));
  return Plus(base, FlipSign(magnitude, SignOf(x)));
}

Term ExpandAtan(Term x) {
  const Term a = Absolute(x);
  const Term is_large = kSqrt2 + 1 < a;
  const Term is_medium = kSqrt2 - 1 < a;
  const Term dividend = Select(is_large, -1.0, Select(is_medium, a - 1.0, a));
  const Term divisor = Select(is_large, a, Select(is_medium, a + 1.0, 1.0));
  const Multiple small =
      Choose(is_medium, MultipleOfPi(x, 0.25), MultipleOfPi(x, 0));
  const Multiple base = Choose(is_large, MultipleOfPi(x, 0.5), small);
  return WithSign(ArcTangent(dividend / divisor, base), x);
}

// Returns atan2(y, x). First computes the angle between the larger of |x| and
// |y| and the hypotenuse, from 0 to pi / 4, and then reflects it into the right
// octant.
Term ExpandAtan2(Term y, Term x) {
  const Term height = Absolute(y), width = Absolute(x);
  const Term is_steep = width < height;
  const Term smaller = Select(is_steep, width, height);
  const Term larger = Select(is_steep, height, width);
  // For equal magnitudes the quotient is 0 or 1 by definition: 0 / 0 and
  // infinity / infinity would give NaN.
  const Term q =
      Select(smaller == larger, Select(larger == 0.0, 0.0, larger.Number(1)),
             smaller / larger);
  const Term is_medium = kSqrt2 - 1 < q;
  const Term t = Select(is_medium, (q - 1.0) / (q + 1.0), q);
  const Term angle = ArcTangent(
      t, Choose(is_medium, MultipleOfPi(x, 0.25), MultipleOfPi(x, 0)));
  // True if the sign bit of x is set: x is negative or -0.
  const Term is_behind = SignOf(x) != AsBits(x).Bits(0);
  const Multiple flat =
      Choose(is_behind, MultipleOfPi(x, 1), MultipleOfPi(x, 0));
  const Multiple base = Choose(is_steep, MultipleOfPi(x, 0.5), flat);
  const Term is_reflected = is_steep ^ is_behind;
  return WithSign(Plus(base, Select(is_reflected, -angle, angle)), y);
}

}  // namespace ember::jit
