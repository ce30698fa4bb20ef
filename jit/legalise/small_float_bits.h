// f16, f8e4m3fn and f8e5m2 in integers: what f32 rounds to, and back, for
// targets that have no conversions. Subnormal values count in units of the
// least.
#ifndef EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
#define EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_

#include "base/dtype.h"
#include "jit/legalise/term.h"

namespace ember::jit::legalise {

// The bits of the type that an f32 rounds to, in a u32, to nearest even.
Term EncodeSmallFloat(Term single, DType type);
// The f32 of the type's bits in a u32.
Term DecodeSmallFloat(Term bits, DType type);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SMALL_FLOAT_BITS_H_
