// sin x = (-1)^n sin r with r = x - n pi, and one polynomial for |r| up to pi /
// 2. cos x is shifted by pi / 2: n is half of an odd number. tan reduces by pi
// / 2.
//
// r needs a small relative error even where it is tiny. So n pi is subtracted
// in parts whose products with (parts of) n are exact, and the roundings of the
// later differences are collected.
#include <cmath>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

constexpr double kPi = 0x1.921fb54442d18p1;

// A number from which products are subtracted one after the other. The rounding
// errors of the subtractions are collected and added at the end.
class Difference {
 public:
  explicit Difference(Term start) : value_(start), lost_(start) {}

  void SubtractExactly(Term product) { value_ = value_ - product; }

  void Subtract(Term product) {
    const Term next = value_ - product;
    const Term lost = (value_ - next) - product;
    lost_ = loses_ ? lost_ + lost : lost;
    loses_ = true;
    value_ = next;
  }

  // Returns the difference after subtracting a last product and adding the
  // collected errors. The order of the operations keeps the sign of -0.
  Term Finish(Term last_product) const {
    return value_ - (last_product - lost_);
  }

 private:
  Term value_;
  Term lost_;
  bool loses_ = false;
};

// Returns x - n * (parts[0] + ... + parts[3]), limited to the interval from
// -bound to bound. Only arguments beyond the documented range reach the limits.
Term SubtractMultiple(Term x, Term n, std::span<const double> parts,
                      double bound) {
  Difference rest(x);
  if (x.is_f32()) {
    // Adding and subtracting this number rounds n to a multiple of 2^10.
    constexpr double kMagic = 0x1.8p33;
    const Term high = (n + kMagic) - kMagic;
    const Term low = n - high;
    rest.SubtractExactly(high * parts[0]);
    rest.SubtractExactly(low * parts[0]);
    rest.SubtractExactly(high * parts[1]);
    rest.Subtract(low * parts[1]);
    rest.Subtract(high * parts[2]);
    rest.Subtract(low * parts[2]);
  } else {
    rest.SubtractExactly(n * parts[0]);
    rest.Subtract(n * parts[1]);
    rest.Subtract(n * parts[2]);
  }
  return AtMost(AtLeast(rest.Finish(n * parts[3]), -bound), bound);
}

// Returns a sign bit that is set if n is odd. `sum` is n plus a magic number,
// so n's lowest bit is the lowest bit of sum.
Term ParityAsSign(Term sum) {
  return AsBits(sum) << (FormatOf(sum).bits == DType::kU32 ? 31 : 63);
}

// Returns r + c0 r^3 + c1 r^5 + ... The term with c0 is added last, because
// near pi / 2 it is the largest and should be rounded only once.
Term OddSeries(Term r, std::span<const double> coefficients) {
  const Term z = r * r;
  const Term rest = Polynomial(z, coefficients.subspan(1));
  return r + r * (z * coefficients[0] + (z * z) * rest);
}

// The polynomial is fitted to r from -kSinBound to kSinBound.
constexpr double kSinBound = 1.68;

Term SinOfReduced(Term r) { return OddSeries(r, Pick(r, kSinF32, kSinF64)); }

}  // namespace

Term ExpandSin(Term x) {
  const double magic = FormatOf(x).integer_magic;
  const Term sum = x * (1 / kPi) + magic;
  const Term r = SubtractMultiple(x, sum - magic,
                                  Pick(x, kPiPartsF32, kPiPartsF64), kSinBound);
  return Select(x == 0.0, x, FlipSign(SinOfReduced(r), ParityAsSign(sum)));
}

// Returns cos x by the identity cos(pi (k + 1/2) + r) = (-1)^(k+1) sin r. The
// magic number is larger by 1, so that the parity of k + 1 can be read from the
// sum.
Term ExpandCos(Term x) {
  const double magic = FormatOf(x).integer_magic + 1;
  const Term sum = (x * (1 / kPi) - 0.5) + magic;
  const Term n = (sum - magic) + 0.5;
  // Here n is a multiple of 1/2, which has one bit more than an integer. So the
  // parts of pi / 2 have one bit less, and the products stay exact.
  const Term r = SubtractMultiple(
      x, n * 2.0, Pick(x, kHalfPiPartsF32, kHalfPiPartsF64), kSinBound);
  return FlipSign(SinOfReduced(r), ParityAsSign(sum));
}

Term ExpandTan(Term x) {
  const double magic = FormatOf(x).integer_magic;
  const Term sum = x * (2 / kPi) + magic;
  const Term r = SubtractMultiple(x, sum - magic,
                                  Pick(x, kHalfPiPartsF32, kHalfPiPartsF64),
                                  Pick(x, 0.885, 0.7855));
  const Term tangent = OddSeries(r, Pick(x, kTanF32, kTanF64));
  const Term is_odd = (AsBits(sum) & 1) != AsBits(sum).Bits(0);
  return Select(is_odd, -1.0 / tangent, tangent);
}

}  // namespace ember::jit
