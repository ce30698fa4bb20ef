// Expresses casts of floats to integers, which saturate and give 0 for NaN:
//
//   u8(x)   ->  raw(u8(raw(i32(limited to 0.0..255.0))))
//   i32(x)  ->  raw(i32(x)), and selects over that    unless saturating_casts
//
// Casts to 8 and 16 bits limit the float first, which holds their limits
// exactly, and go by way of i32, because machines only have casts to integers
// of 32 bits and more.
#ifndef EMBER_JIT_LEGALISE_SATURATING_CASTS_H_
#define EMBER_JIT_LEGALISE_SATURATING_CASTS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> SaturatingCasts(Legaliser& legaliser,
                                      const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SATURATING_CASTS_H_
