// Expresses arithmetic of narrow floats in f32, except where the target has the
// named field of TargetOperations:
//
//   a + b     ->  f16(f32(a) + f32(b))          f16: unless half_sums
//   floor(a)  ->  raw(f16(floor(f32(a))))
//   a < b     ->  f32(a) < f32(b)
//   neg(a)    ->  xor(bits of a, the sign)      f16: unless half_conversions
#ifndef EMBER_JIT_LEGALISE_NARROW_FLOATS_H_
#define EMBER_JIT_LEGALISE_NARROW_FLOATS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> NarrowFloats(Legaliser& legaliser,
                                   const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_NARROW_FLOATS_H_
