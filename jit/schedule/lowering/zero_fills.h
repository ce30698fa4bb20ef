// Fills temporaries with zeros if some element may be read before it is stored.
// Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_ZERO_FILLS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_ZERO_FILLS_H_

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/computation.h"

namespace ember::schedule {

// Adds a phase for each temporary of which some element may be read before it
// is stored. The nest's first buffers must be the computation's, in order.
void AddZeroFills(const Computation& computation, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_ZERO_FILLS_H_
