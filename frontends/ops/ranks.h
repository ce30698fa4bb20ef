// Describes an error in an operand's rank, for readers of operands.
//
//   const std::string fault = FindRankFault(x, 3, 5);
//   if (!fault.empty()) c.FailInvalid("input 0: " + fault);
//
// Thread-safe.
#ifndef EMBER_FRONTENDS_OPS_RANKS_H_
#define EMBER_FRONTENDS_OPS_RANKS_H_

#include <string>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns a text like "expected rank 3 to 5, found [2, 4]"; "" for a rank in
// [minimum, maximum]. A maximum of kMaxRank reads as "or more".
std::string FindRankFault(const Tensor& x, int minimum, int maximum);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RANKS_H_
