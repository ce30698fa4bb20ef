// Packed constants are fetched while others are computed with. Internal to
// lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// A large packed constant is read panel by panel (its first dim), and a panel
// many times, by tile after tile of results. In a network it comes from memory
// in each run, as the other layers need more than caches hold: the first tile
// would wait for it. So each step of each tile asks for as much of the next
// panel as is its share, and memory is busy all the time:
//
//   for k < K {
//     prefetch %w.packed (panel + 1) * size + (tile * K + k) * share
//     ...
//   }
//
// Where extents are constant, panels are used by several tiles, and what is
// asked for per step is a few lines at most.
void PlanPrefetches(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_PLAN_PREFETCHES_H_
