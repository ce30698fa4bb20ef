// Expresses the instruction sign by selects, and abs of an unsigned integer by
// its operand:
//
//   sign(x)  ->  select(0.0 < x, 1.0, select(x < 0.0, -1.0, x))
//   sign(i)  ->  select(i < 0, -1, select(0 < i, 1, 0))
#ifndef EMBER_JIT_LEGALISE_SIGNS_H_
#define EMBER_JIT_LEGALISE_SIGNS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Signs(Legaliser& legaliser,
                            const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_SIGNS_H_
