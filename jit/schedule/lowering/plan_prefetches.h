// Prefetches the next part of packed constants while the current part is used.
// Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Adds prefetches of packed constants to the nest. A large packed constant is
// read panel by panel (its first dim), and a panel many times, by tile after
// tile of results. In a network each run reads the constant from memory,
// because other layers need more space than caches have: the first tile would
// wait for it. So each step of each tile prefetches its share of the next
// panel, which keeps memory busy all the time:
//
//   for k < K {
//     prefetch %w.packed (panel + 1) * size + (tile * K + k) * share
//     ...
//   }
//
// Applies where extents are constant, several tiles use a panel, and the share
// of a step is a few cache lines at most.
void PlanPrefetches(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_
