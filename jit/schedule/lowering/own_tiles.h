// Gives each invocation a buffer of its own in place of a task buffer that no
// other invocation uses.
// Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Replaces the dims of a kTask buffer by the loops around its accesses, if all
// accesses are in loops of the same constant extents, one of them over
// invocations, and access the same element in the same iteration:
//
//   invocation i < 8 { unroll u < 4 { %t[u * 2 + i floordiv 4, ...] = … } }
//   invocation j < 8 { unroll w < 4 { … = %t[w * 2 + j floordiv 4, ...] } }
//
// becomes %t[i, u] and %t[j, w]. PromoteRegisters then makes it registers of
// each invocation, which need no shared memory and no barrier.
void MakeTilesOwn(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
