// Finds the keys that a row of attention sees, from a causal mask in the
// dispatch.
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

// Returns an i64 sum of the axes except the last one, of parameters and of
// constants, that cannot wrap. Wherever the last axis is not below this sum,
// `value` is -inf. nullopt if that cannot be proved. axes: variables of the
// stage that computes the value.
//
// The proof follows casts of floats, selects by comparisons (or their `not`),
// and loads of values that a stage has stored point by point. A finite constant
// in place of -inf proves nothing: where scores are -inf themselves, it would
// be the maximum.
std::optional<NodeId> EndOfVisibleKeys(Computation& computation, NodeId value,
                                       std::span<const NodeId> axes);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_
