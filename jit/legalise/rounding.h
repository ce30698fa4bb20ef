// Expresses floor, ceil, round and trunc by sums with a number so large that
// its ulp is 1, unless the target has TargetOperations::rounding_f32 or
// ::rounding_f64:
//
//   round(x)  ->  abs(x) + 2^23 - 2^23, with the sign of x, if |x| < 2^23
#ifndef EMBER_JIT_LEGALISE_ROUNDING_H_
#define EMBER_JIT_LEGALISE_ROUNDING_H_

#include <optional>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::optional<NodeId> Rounding(Legaliser& legaliser,
                               const Instruction& instruction);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_ROUNDING_H_
