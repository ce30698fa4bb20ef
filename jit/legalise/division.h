// Expresses division of integers by the divisions of machines, which have no
// result for a divisor of 0, nor for the smallest value by -1:
//
//   a / b               ->  select(b == 0, 0,
//                               raw(floordiv(a, select(b == 0, 1, b))))
//                           if neither is negative
//   floordiv(i, 3)      ->  raw(floordiv(i + 3, 3)) - 1      for i in -2..N
//   mod(a, b)           ->  raw(rem(a, b)), to which b is added where it has
//                           the other sign
//   raw(rem(a, b))      ->  a - raw(a / b) * b         unless signed_remainders
//
// Ranges decide which of the cases can occur. floordiv and mod keep their
// opcodes, so that code which takes indices apart still finds them.
#ifndef EMBER_JIT_LEGALISE_DIVISION_H_
#define EMBER_JIT_LEGALISE_DIVISION_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Division(Legaliser& legaliser,
                               const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_DIVISION_H_
