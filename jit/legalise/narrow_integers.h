// Expresses integers of 8 and 16 bits in 32 bits, unless the target has
// TargetOperations::narrow_integers:
//
//   a + b          ->  i8(i32(a) + i32(b))
//   min(a, b)      ->  raw(i8(min(i32(a), i32(b))))
//   bitcast_u8(a)  ->  u8(a)
#ifndef EMBER_JIT_LEGALISE_NARROW_INTEGERS_H_
#define EMBER_JIT_LEGALISE_NARROW_INTEGERS_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> NarrowIntegers(Legaliser& legaliser,
                                     const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_NARROW_INTEGERS_H_
