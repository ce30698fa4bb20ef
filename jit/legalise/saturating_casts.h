// Expresses casts of floats to integers, which saturate and give 0 for NaN:
//
//   u8(x)   ->  raw(u8(raw(i32(limited to 0.0..255.0))))
//   i32(x)  ->  raw(i32(x)), and selects over that    unless saturating_casts
//
// f32 and f64 hold the limits of small integers exactly, and machines convert
// to 32 bits and signed integers.
#ifndef EMBER_JIT_LEGALISE_SATURATING_CASTS_H_
#define EMBER_JIT_LEGALISE_SATURATING_CASTS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> SaturatingCasts(Legaliser& legaliser,
                                      const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SATURATING_CASTS_H_
