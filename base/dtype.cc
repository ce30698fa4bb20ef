#include "base/dtype.h"

#include <bit>
#include <cmath>

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
    bits -= 1;  // truncate
  return std::bit_cast<float>(bits | 1);
}

}  // namespace

std::optional<DType> DTypeFromName(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kDTypeTable[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

float ToFloat(Float16 value) {
  uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
  uint32_t exponent = (value.bits >> 10) & 0x1f;
  uint32_t mantissa = value.bits & 0x3ff;
  if (exponent == 0) {  // zero and subnormal: mantissa * 2^-24
    float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                              (mantissa << 13));
}

float ToFloat(BFloat16 value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

Float16 ToFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  bits &= 0x7fffffff;
  if (bits >= 0x7f800000) {  // infinity, NaN (kept a NaN)
    uint16_t mantissa =
        bits > 0x7f800000
            ? static_cast<uint16_t>(0x200 | ((bits >> 13) & 0x3ff))
            : 0;
    return {static_cast<uint16_t>(sign | 0x7c00 | mantissa)};
  }
  if (bits >= 0x477ff000)
    return {static_cast<uint16_t>(sign | 0x7c00)};  // rounds to infinity
  if (bits < 0x38800000) {  // subnormal or zero: adding 0.5 rounds at 2^-24 in
                            // the float unit
    float shifted = std::bit_cast<float>(bits) + 0.5f;
    return {static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000))};
  }
  uint32_t rounded = bits + 0xfff + ((bits >> 13) & 1);
  return {static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13))};
}

BFloat16 ToBFloat16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {static_cast<uint16_t>((bits >> 16) | 0x40)};
  return {static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

Float16 ToFloat16(double value) { return ToFloat16(RoundToOdd(value)); }
BFloat16 ToBFloat16(double value) { return ToBFloat16(RoundToOdd(value)); }

}  // namespace ember
