// Expresses min and max of floats, in which a NaN wins, and the first of two
// equal zeros:
//
//   min(a, b)       ->  select(is_nan(b), nan, select(b < a, b, a))
//   min(6.0, b)     ->  select(6.0 <= b, 6.0, b)
//   raw(min(a, b))  ->  select(or(a < b, is_nan(b)), a, b)
//                                                   unless number_extremes
//
// Most machines have one instruction for a comparison with a select. If b is a
// NaN, the result is a constant NaN instead of b, because LLVM would merge the
// two selects otherwise.
#ifndef EMBER_JIT_LEGALISE_EXTREMES_H_
#define EMBER_JIT_LEGALISE_EXTREMES_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Extremes(Legaliser& legaliser,
                               const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_EXTREMES_H_
