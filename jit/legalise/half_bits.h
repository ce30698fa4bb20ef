// f16 in integers: what f32 rounds to, and back, for targets that have no
// conversions. Subnormal f16 count in units of 2^-24.
#ifndef EMBER_JIT_LEGALISE_HALF_BITS_H_
#define EMBER_JIT_LEGALISE_HALF_BITS_H_

#include "jit/legalise/term.h"

namespace ember::jit::legalise {

// The 16 bits that an f32 rounds to, in a u32, to nearest even.
Term EncodeHalf(Term single);
// The f32 of 16 bits in a u32.
Term DecodeHalf(Term bits);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_HALF_BITS_H_
