// Shortens the loops of a stage to the elements that are needed: the useful
// elements of a reduction (UsefulElements), and the needed parts of regions
// (AxisRegion::needed).
//
//   for k_block < 64 { for k_lane < 8 { ... k_block * 8 + k_lane ... } }
//
// becomes, if only k < t + 1 is needed, and multiples of 16 are computed,
//
//   for k_block < min(floordiv(t + 16, 16), 32) * 2 { ... }
//
// Internal to schedules and lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_SHORTEN_LOOPS_H_
#define EMBER_JIT_SCHEDULE_CORE_SHORTEN_LOOPS_H_

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// Makes loops begin and end with the first and the last iteration whose
// elements are needed at some point of the loops inside them. A loop's extent
// may then depend on the loops around it. Only serial loops over a whole axis,
// or over the outer part of a split axis, are changed, and the inner part if it
// is directly inside and long enough; inside a reduction only reductions.
// Shortened loops cover whole iterations, so somewhat more elements than are
// needed, but not more than before. Records what they cover in
// StageLoops::shortened.
void ShortenLoops(const Computation& computation, StageLoops& loops,
                  loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SHORTEN_LOOPS_H_
