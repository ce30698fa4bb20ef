// What is wrong with an operand's rank, as readers of operands say it.
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

// "expected rank 3 to 5, found [2, 4]"; "" for a rank in [minimum, maximum].
// A maximum of kMaximumRank reads as "or more".
std::string FindRankFault(const Tensor& x, int minimum, int maximum);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RANKS_H_
