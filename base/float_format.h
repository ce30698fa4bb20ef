// Where the bits of the float types are, by type: what is computed from codes
// asks here, so that it is written once for all of them.
//
//   constexpr FloatFormat format = FloatFormatOf(DType::kF8E4M3FN);
//   format.mantissa_bits == 3;  format.bias == 7;  format.past_finite == 0x7f
//
// A value; its functions are pure.
//
// Sources: IEEE 754-2019 (f16, f32, f64); Open Compute Project, "OCP 8-bit
// Floating Point Specification (OFP8)", revision 1.0 (f8e4m3fn, f8e5m2).
#ifndef EMBER_BASE_FLOAT_FORMAT_H_
#define EMBER_BASE_FLOAT_FORMAT_H_

#include <cstdint>

#include "base/dtype.h"

namespace ember {

struct FloatFormat {
  int bits;  // of all: a sign, the exponent, the mantissa
  int mantissa_bits;
  int bias;
  // Codes without a sign: the least that is not finite, which is that of
  // infinity where there is one, else NaN's; and the NaN that results are.
  uint64_t past_finite;
  uint64_t quiet_nan;

  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits - 1); }
  constexpr bool has_infinity() const { return past_finite != quiet_nan; }
};

// By type; 0 for those that are no floats.
inline constexpr uint8_t kMantissaBits[] = {
    0,  0, 0,  0,  0, 0, 0, 0, 0,  // bool, i8 ... u64
    10, 7, 23, 52,                 // f16, bf16, f32, f64
    3,  2                          // f8e4m3fn, f8e5m2
};
static_assert(sizeof(kMantissaBits) == kDTypeCount);

// Of a float type. Computed of the table's numbers, which is less code than a
// table of formats.
constexpr FloatFormat FloatFormatOf(DType type) {
  const int bits = 8 * DTypeByteSize(type);
  const int mantissa_bits = kMantissaBits[static_cast<int>(type)];
  const uint64_t ones = (uint64_t{1} << (bits - 1)) - 1;
  const uint64_t infinity = ones - ((uint64_t{1} << mantissa_bits) - 1);
  const bool has_infinity = type != DType::kF8E4M3FN;
  return {bits, mantissa_bits, (1 << (bits - 2 - mantissa_bits)) - 1,
          has_infinity ? infinity : ones,
          has_infinity ? infinity | (uint64_t{1} << mantissa_bits >> 1) : ones};
}

constexpr bool IsFloat8(DType type) {
  return IsNarrowFloat(type) && DTypeByteSize(type) == 1;
}

// The value of a narrow float's bits, and the bits that a value rounds to: as
// ToFloat and ToNarrowFloat, where the type is known at run time.
float DecodeNarrowFloat(uint64_t bits, DType type);
uint64_t EncodeNarrowFloat(double value, DType type);

}  // namespace ember

#endif  // EMBER_BASE_FLOAT_FORMAT_H_
