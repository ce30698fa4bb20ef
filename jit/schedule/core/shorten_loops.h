// Shortens the loops of a stage that compute elements that are not needed:
// useful elements of a reduction (UsefulElements), and the needed parts of
// regions (AxisRegion::needed).
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

// Makes loops begin and end where no point of the loops inside needs the
// elements before and after. The extent of such a loop depends on the loops
// around it. Changes only serial loops over a whole axis or the outer part of
// one, and no loop inside a reduction that is not a reduction itself. The loops
// cover whole iterations, so more elements than are needed, but not more than
// before. Notes what they cover in StageLoops::shortened.
void ShortenLoops(const Computation& computation, StageLoops& loops,
                  loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SHORTEN_LOOPS_H_
