// What an invocation makes and only it uses is its own. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
#define EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// A kTask buffer of constant extents that invocation loops store to and read,
// where all accesses are to the same element in the same iteration of loops of
// the same extents, gets an index per loop instead of its dims:
//
//   invocation i < 8 { unroll u < 4 { %t[u * 2 + i floordiv 4, ...] = … } }
//   invocation j < 8 { unroll w < 4 { … = %t[w * 2 + j floordiv 4, ...] } }
//
// becomes %t[i, u] and %t[j, w], which PromoteRegisters makes registers of each
// invocation: no shared memory, no barrier.
void MakeTilesOwn(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_OWN_TILES_H_
