// Expresses conversions from f32 to f16, f8e4m3fn and f8e5m2, with rounding,
// and back by operations on integers, for targets without these conversions.
#ifndef EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
#define EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_

#include "base/dtype.h"
#include "jit/legalise/term.h"

namespace ember::jit::legalise {

// Returns the bits of the small float to which the f32 is rounded, to nearest
// even. The bits are the low bits of a u32.
Term EncodeSmallFloat(Term single, DType type);
// Returns the f32 with the value of a small float, whose bits are the low bits
// of a u32.
Term DecodeSmallFloat(Term bits, DType type);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
