// Expresses shifts by any amount:
//
//   shl(a, b)  ->  select(u32(b) < 32, raw(shl(a, b)), 0)
//   shl(a, b)  ->  raw(shl(a, b))                   b known to be in 0..31
//   shr(a, b)  ->  raw(shr(a, select(u32(b) < 32, b, 31)))    with a sign
#ifndef EMBER_JIT_LEGALISE_SHIFTS_H_
#define EMBER_JIT_LEGALISE_SHIFTS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Shifts(Legaliser& legaliser,
                             const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SHIFTS_H_
