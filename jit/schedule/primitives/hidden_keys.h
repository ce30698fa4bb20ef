// Which keys a row of attention sees, as a causal mask says it.
//
//   %masked[b, i, j] = select(j <= i + 3, %score[b, i, j] * 0.125, -inf)
//
// Row i sees keys j < i + 4: the others are -inf whatever %score holds, so that
// a softmax gives them the weight 0.
//
// Internal to the primitive online_softmax.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_

#include <optional>
#include <span>

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// An i64 sum of the axes but the last one, of parameters and of constants, that
// cannot wrap: wherever the last axis is not below it, `value` is -inf.
// Nothing, if that cannot be proved. axes: variables of the stage that computes
// the value.
//
// Followed are casts of floats, selects by comparisons (or their `not`), and
// loads of what a stage has stored point by point. A finite constant in the
// place of -inf proves nothing: scores that are -inf themselves lose against
// it.
std::optional<NodeId> EndOfVisibleKeys(Computation& computation, NodeId value,
                                       std::span<const NodeId> axes);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_
