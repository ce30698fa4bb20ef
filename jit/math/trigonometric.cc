// sin x = (-1)^n sin r with r = x - n pi, and one polynomial up to |r| = pi
// / 2. cos x shifts by pi / 2, that is, n is half of an odd number. tan reduces
// by pi / 2.
//
// r must have few errors even where it is tiny, so n pi is subtracted in parts
// whose products with (parts of) n are exact, and roundings of the later
// differences are collected.
#include <cmath>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

constexpr double kPi = 0x1.921fb54442d18p1;

// Subtracts products one by one and keeps what is rounded away.
class Difference {
 public:
  explicit Difference(Value start) : value_(start), lost_(start) {}

  void SubtractExactly(Value product) { value_ = value_ - product; }

  void Subtract(Value product) {
    const Value next = value_ - product;
    const Value lost = (value_ - next) - product;
    lost_ = loses_ ? lost_ + lost : lost;
    loses_ = true;
    value_ = next;
  }

  // Written so that -0 stays -0.
  Value Finish(Value last_product) const {
    return value_ - (last_product - lost_);
  }

 private:
  Value value_;
  Value lost_;
  bool loses_ = false;
};

// x - n * (the sum of four parts), at most `bound`, which only arguments beyond
// the documented range exceed.
Value SubtractMultiple(Value x, Value n, std::span<const double> parts,
                       double bound) {
  Difference rest(x);
  if (x.is_f32()) {
    constexpr double kMagic = 0x1.8p33;  // rounds to a multiple of 2^10
    const Value high = (n + kMagic) - kMagic;
    const Value low = n - high;
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

// The lowest bit of the integer in a sum with a magic number, as a sign.
Value ParityAsSign(Value sum) {
  return AsBits(sum) << (FormatOf(sum).bits == DType::kU32 ? 31 : 63);
}

// r + c0 r^3 + c1 r^5 + ... The first coefficient stands apart: near pi / 2 it
// weighs most, and so it is rounded once less.
Value OddSeries(Value r, std::span<const double> coefficients) {
  const Value z = r * r;
  const Value rest = Polynomial(z, coefficients.subspan(1));
  return r + r * (z * coefficients[0] + (z * z) * rest);
}

constexpr double kSinBound = 1.68;  // the end of the polynomial's fit

Value SinOfReduced(Value r) { return OddSeries(r, Pick(r, kSinF32, kSinF64)); }

}  // namespace

Value ExpandSin(Value x) {
  const double magic = FormatOf(x).integer_magic;
  const Value sum = x * (1 / kPi) + magic;
  const Value r = SubtractMultiple(
      x, sum - magic, Pick(x, kPiPartsF32, kPiPartsF64), kSinBound);
  return Select(x == 0.0, x, FlipSign(SinOfReduced(r), ParityAsSign(sum)));
}

// cos(pi (k + 1/2) + r) = (-1)^(k+1) sin r; the magic number adds the 1.
Value ExpandCos(Value x) {
  const double magic = FormatOf(x).integer_magic + 1;
  const Value sum = (x * (1 / kPi) - 0.5) + magic;
  const Value n = (sum - magic) + 0.5;
  // Half-integers have a bit more than integers, so these parts have one less.
  const Value r = SubtractMultiple(
      x, n * 2.0, Pick(x, kHalfPiPartsF32, kHalfPiPartsF64), kSinBound);
  return FlipSign(SinOfReduced(r), ParityAsSign(sum));
}

Value ExpandTan(Value x) {
  const double magic = FormatOf(x).integer_magic;
  const Value sum = x * (2 / kPi) + magic;
  const Value r = SubtractMultiple(x, sum - magic,
                                   Pick(x, kHalfPiPartsF32, kHalfPiPartsF64),
                                   Pick(x, 0.885, 0.7855));
  const Value tangent = OddSeries(r, Pick(x, kTanF32, kTanF64));
  const Value is_odd = (AsBits(sum) & 1) != AsBits(sum).Bits(0);
  return Select(is_odd, -1.0 / tangent, tangent);
}

}  // namespace ember::jit
