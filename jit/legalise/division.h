// Expresses divisions of integers by raw ones. A machine's division has no
// result if the divisor is 0, or if the smallest value is divided by -1:
//
//   a / b               ->  select(b == 0, 0,
//                               raw(floordiv(a, select(b == 0, 1, b))))
//                           if neither is negative
//   floordiv(i, 3)      ->  raw(floordiv(i + 3, 3)) - 1      for i in -2..N
//   mod(a, b)           ->  raw(rem(a, b)), to which b is added where it has
//                           the other sign
//   raw(rem(a, b))      ->  a - raw(a / b) * b         unless signed_remainders
//
// The operands' ranges decide which of these cases can occur. Raw forms of
// floordiv and mod keep these opcodes, because passes that analyse indices look
// for them.
#ifndef EMBER_JIT_LEGALISE_DIVISION_H_
#define EMBER_JIT_LEGALISE_DIVISION_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Division(Legaliser& legaliser,
                               const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_DIVISION_H_
