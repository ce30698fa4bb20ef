// Finds the keys that a row of attention sees, from a mask in the dispatch that
// compares keys and rows: a causal mask, or a sliding window.
//
//   %masked[b, i, j] = select(j <= i + 3, %score[b, i, j] * 0.125, -inf)
//
// Row i sees keys j < i + 4: the others are -inf whatever %score holds, so that
// a softmax gives them the weight 0.
//
// Internal to the primitives online_softmax and skip_hidden.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_

#include <optional>
#include <span>

#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// The keys that a row may see: begin <= key < end. Both are i64 sums of
// parameters, constants and axes other than the axis of the keys, and cannot
// wrap. A bound that is not known is nullopt.
struct VisibleKeys {
  std::optional<NodeId> begin, end;
};

// Returns bounds of the keys, which are the last of the axes, such that `value`
// is -inf for all other keys. axes: variables of the axes of the stage that
// computes `value`.
//
// The proof follows casts of floats, selects by comparisons (or their `not`,
// `and` and `or`), and loads of values that a stage has stored point by point.
// A mask with a finite constant in place of -inf proves nothing: in a row whose
// visible scores are all -inf, that constant would be the maximum.
VisibleKeys VisibleKeysOf(Computation& computation, NodeId value,
                          std::span<const NodeId> axes);

// True if the bounds may exclude a key of some row; false if they provably
// exclude none. keys: the number of keys, in the computation's pool.
bool HidesKeys(const Computation& computation, const VisibleKeys& visible,
               NodeId keys);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_HIDDEN_KEYS_H_
