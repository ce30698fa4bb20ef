// Converts f32 to f16, f8e4m3fn and f8e5m2, with rounding, and back, in
// integers, for targets without these conversions. Subnormal values count in
// units of the smallest one.
#ifndef EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
#define EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_

#include "base/dtype.h"
#include "jit/legalise/term.h"

namespace ember::jit::legalise {

// Returns the bits of the type, in a u32, to which an f32 is rounded to nearest
// even.
Term EncodeSmallFloat(Term single, DType type);
// Returns the f32 with the value of the type's bits in a u32.
Term DecodeSmallFloat(Term bits, DType type);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
