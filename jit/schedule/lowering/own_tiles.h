// Gives each invocation a buffer of its own in place of a task buffer that no
// other invocation uses.
// Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Applies to a kTask buffer of constant extents that invocation loops store to
// and read, if all accesses are to the same element in the same iteration of
// loops of the same extents. The buffer gets an index per loop instead of its
// dims:
//
//   invocation i < 8 { unroll u < 4 { %t[u * 2 + i floordiv 4, ...] = … } }
//   invocation j < 8 { unroll w < 4 { … = %t[w * 2 + j floordiv 4, ...] } }
//
// becomes %t[i, u] and %t[j, w]. PromoteRegisters then makes it registers of
// each invocation, which need no shared memory and no barrier.
void MakeTilesOwn(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
