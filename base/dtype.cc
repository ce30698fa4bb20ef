#include "base/dtype.h"

#include <bit>
#include <cmath>

#include "base/float_format.h"

namespace ember {
namespace {

// Rounds a double to a float with the last bit set whenever anything was lost
// ("round to odd"), so that a second rounding to a much narrower format gives
// the correctly rounded result.
float RoundToOdd(double value) {
  float nearest = static_cast<float>(value);
  if (!std::isfinite(nearest) || static_cast<double>(nearest) == value)
    return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value))
    bits -= 1;  // `nearest` was rounded away from 0: take the float before it
  return std::bit_cast<float>(bits | 1);
}

constexpr FloatFormat kHalf = FloatFormatOf(DType::kF16);
constexpr FloatFormat kBrain = FloatFormatOf(DType::kBF16);
constexpr FloatFormat kE4M3FN = FloatFormatOf(DType::kF8E4M3FN);
constexpr FloatFormat kE5M2 = FloatFormatOf(DType::kF8E5M2);

// A narrow float becomes a float by shifting its bits to the positions of a
// float's exponent and mantissa and adding this number, the difference of the
// exponent biases. For infinities and NaNs it is added twice, which gives an
// exponent of all ones. It is 0 for bf16, which is the upper half of a float.
uint32_t ExponentShift(const FloatFormat& format) {
  return static_cast<uint32_t>(127 - format.bias) << 23;
}

float Decode(uint32_t code, const FloatFormat& format) {
  const uint32_t sign_bit = static_cast<uint32_t>(format.sign_bit());
  const uint32_t sign = (code & sign_bit) << (32 - format.bits);
  const uint32_t size = code & (sign_bit - 1);
  const bool is_rebiased = ExponentShift(format) != 0;
  uint32_t bits = (size << (23 - format.mantissa_bits)) + ExponentShift(format);
  if (is_rebiased && size >> format.mantissa_bits == 0) {
    // Zeros and subnormals need another conversion than normal numbers: the
    // mantissa is placed in the bits of a float 2^n, and then 2^n is subtracted
    // in float arithmetic.
    bits += uint32_t{1} << 23;
    const uint32_t least = ExponentShift(format) + (uint32_t{1} << 23);
    bits = std::bit_cast<uint32_t>(std::bit_cast<float>(bits) -
                                   std::bit_cast<float>(least));
  } else if (size >= format.past_finite) {
    bits += ExponentShift(format);
  }
  return std::bit_cast<float>(bits | sign);
}

uint32_t Encode(float value, const FloatFormat& format) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t size = bits & 0x7fffffff;
  const int shift = 23 - format.mantissa_bits;
  const uint32_t past_finite = static_cast<uint32_t>(format.past_finite);
  uint32_t code = past_finite;
  if (size > 0x7f800000) {  // the value is a NaN and becomes a quiet NaN
    code = static_cast<uint32_t>(format.quiet_nan) |
           ((size >> shift) & ((uint32_t{1} << format.mantissa_bits) - 1));
  } else if (ExponentShift(format) != 0 &&
             size < ExponentShift(format) + (uint32_t{1} << 23)) {
    // A result that is zero or subnormal is rounded by float arithmetic: adding
    // a float whose last bit has the weight of the narrow type's last bit drops
    // the lower bits.
    const uint32_t unit =
        ExponentShift(format) + (static_cast<uint32_t>(shift + 1) << 23);
    code = std::bit_cast<uint32_t>(std::bit_cast<float>(size) +
                                   std::bit_cast<float>(unit)) -
           unit;
  } else if (size < (past_finite << shift) + ExponentShift(format)) {
    const uint32_t odd = (size >> shift) & 1;
    code = (size + ((uint32_t{1} << (shift - 1)) - 1) + odd -
            ExponentShift(format)) >>
           shift;
  }
  return code | ((bits >> (32 - format.bits)) &
                 static_cast<uint32_t>(format.sign_bit()));
}

}  // namespace

std::optional<DType> DTypeFromName(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kDTypeTable[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

float DecodeNarrowFloat(uint64_t bits, DType type) {
  return Decode(static_cast<uint32_t>(bits), FloatFormatOf(type));
}

uint64_t EncodeNarrowFloat(double value, DType type) {
  return Encode(RoundToOdd(value), FloatFormatOf(type));
}

float ToFloat(Float16 value) { return Decode(value.bits, kHalf); }
float ToFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}
float ToFloat(Float8E4M3FN value) { return Decode(value.bits, kE4M3FN); }
float ToFloat(Float8E5M2 value) { return Decode(value.bits, kE5M2); }

template <>
Float16 ToNarrowFloat(float value) {
  return {static_cast<uint16_t>(Encode(value, kHalf))};
}
template <>
BFloat16 ToNarrowFloat(float value) {
  return {static_cast<uint16_t>(Encode(value, kBrain))};
}
template <>
Float8E4M3FN ToNarrowFloat(float value) {
  return {static_cast<uint8_t>(Encode(value, kE4M3FN))};
}
template <>
Float8E5M2 ToNarrowFloat(float value) {
  return {static_cast<uint8_t>(Encode(value, kE5M2))};
}

template <NarrowFloat T>
T ToNarrowFloat(double value) {
  return ToNarrowFloat<T>(RoundToOdd(value));
}
template Float16 ToNarrowFloat(double value);
template BFloat16 ToNarrowFloat(double value);
template Float8E4M3FN ToNarrowFloat(double value);
template Float8E5M2 ToNarrowFloat(double value);

}  // namespace ember
