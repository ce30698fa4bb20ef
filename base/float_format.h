// Describes where the bits of each float type are, so that code which computes
// from bit patterns is written once for all types.
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
  int bits;  // Number of bits of the type: sign, exponent and mantissa
             // together.
  int mantissa_bits;
  int bias;
  // `past_finite`: the smallest bit pattern, without the sign bit, that is not
  // finite: infinity if the type has one, else NaN. `quiet_nan`: the bits of
  // the NaN that operations return.
  uint64_t past_finite;
  uint64_t quiet_nan;

  constexpr uint64_t sign_bit() const { return uint64_t{1} << (bits - 1); }
  constexpr bool has_infinity() const { return past_finite != quiet_nan; }
};

// Mantissa bits of each type; 0 for types that are no floats.
inline constexpr uint8_t kMantissaBits[] = {
    0,  0, 0,  0,  0, 0, 0, 0, 0,  // mantissa bits of bool and all integers
    10, 7, 23, 52,                 // mantissa bits of f16, bf16, f32, f64
    3,  2                          // mantissa bits of f8e4m3fn, f8e5m2
};
static_assert(sizeof(kMantissaBits) == kDTypeCount);

// Returns the format of a float type. It is computed from the type's size and
// kMantissaBits, which takes less code than a table of formats.
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

// Converts between a float value and the bits of a narrow float type that is
// known only at run time. The templates ToFloat and ToNarrowFloat do the same
// for a type that is known at compile time.
float DecodeNarrowFloat(uint64_t bits, DType type);
uint64_t EncodeNarrowFloat(double value, DType type);

}  // namespace ember

#endif  // EMBER_BASE_FLOAT_FORMAT_H_
