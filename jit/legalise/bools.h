// Expresses operations on bools by and, or, not and select:
//
//   a < b, min(a, b)  ->  and(not(a), b), and(a, b)
//   bool(x)           ->  x != 0
//   f32(a)            ->  select(a, 1.0, 0.0)    unless bool_casts
#ifndef EMBER_JIT_LEGALISE_BOOLS_H_
#define EMBER_JIT_LEGALISE_BOOLS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Bools(Legaliser& legaliser,
                            const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_BOOLS_H_
