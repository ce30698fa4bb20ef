#include "jit/legalise/small_float_bits.h"

#include <cmath>

#include "base/float_format.h"

namespace ember::jit::legalise {
namespace {

// Computes the positions of a small float's bits in terms of the bits of an
// f32.
struct BitPositions {
  explicit BitPositions(DType type) : format(FloatFormatOf(type)) {}

  // Returns how many more mantissa bits an f32 has than the small type.
  int shift() const { return 23 - format.mantissa_bits; }
  // Returns how much larger the exponent bias of f32 is than that of the small
  // type.
  int64_t rebias() const { return 127 - format.bias; }
  int64_t sign_bit() const { return static_cast<int64_t>(format.sign_bit()); }
  int sign_shift() const { return 32 - format.bits; }
  int64_t past_finite() const {
    return static_cast<int64_t>(format.past_finite);
  }
  int64_t quiet_nan() const { return static_cast<int64_t>(format.quiet_nan); }
  int64_t mantissa() const { return (int64_t{1} << format.mantissa_bits) - 1; }
  double least() const {
    return std::ldexp(1.0, 1 - format.bias - format.mantissa_bits);
  }

  FloatFormat format;
};

}  // namespace

Term EncodeSmallFloat(Term single, DType type) {
  const BitPositions positions(type);
  const int64_t rebias = positions.rebias() << 23;
  const Term bits = Bitcast(single, DType::kU32);
  const Term sign = (bits >> positions.sign_shift()) & positions.sign_bit();
  const Term size = bits & 0x7fffffff;
  // `normal`: the result if it is a normal number. The exponent gets the
  // smaller bias, and mantissa bits that do not fit are rounded off to nearest
  // even.
  const Term odd = (size >> positions.shift()) & 1;
  const int64_t almost_half = (int64_t{1} << (positions.shift() - 1)) - 1;
  const Term normal =
      ((size - (rebias - almost_half)) + odd) >> positions.shift();
  // `units`: the result if it is subnormal, in units of the type's smallest
  // value. Adding a number whose ulp is that value rounds to a multiple of it.
  const Term number = single.Number(std::ldexp(positions.least(), 23));
  const Term sum = Bitcast(size, DType::kF32) + number;
  const Term units = Bitcast(sum, DType::kU32) - Bitcast(number, DType::kU32);
  Term result = Select(size < ((positions.rebias() + 1) << 23), units, normal);
  // Numbers above the type's range become past_finite, the smallest non-finite
  // bit pattern. Numbers that only rounding takes out of the range have become
  // it already.
  const int64_t too_large =
      (positions.past_finite() << positions.shift()) + rebias;
  result =
      Select(size < too_large, result, size.Integer(positions.past_finite()));
  const Term nan = ((size >> positions.shift()) & positions.mantissa()) |
                   positions.quiet_nan();
  result = Select(size < 0x7f800001, result, nan);
  return result | sign;
}

Term DecodeSmallFloat(Term bits, DType type) {
  const BitPositions positions(type);
  const int64_t rebias = positions.rebias() << 23;
  const Term sign = (bits & positions.sign_bit()) << positions.sign_shift();
  const Term size = bits & (positions.sign_bit() - 1);
  const Term shifted = size << positions.shift();
  const Term normal = shifted + rebias;
  // `large`: the f32's bits if the value is infinite or a NaN
  const Term large = shifted + 2 * rebias;
  // A subnormal value is a number of units. The number is cast from a signed
  // integer, because machines have that cast.
  const Term units = Cast(RawCast(size, DType::kI32), DType::kF32);
  const Term subnormal =
      Bitcast(units * units.Number(positions.least()), DType::kU32);
  Term result = Select(size < positions.mantissa() + 1, subnormal, normal);
  result = Select(size < positions.past_finite(), result, large);
  return Bitcast(result | sign, DType::kF32);
}

}  // namespace ember::jit::legalise
