// Shortens the loops of a stage that compute elements that are not needed:
// useful elements of a reduction (UsefulElements), and the needed parts of
// regions (AxisRegion::needed).
//
//   for k_block < 16 { for k_lane < 8 { ... k_block * 8 + k_lane ... } }
//   for k_block < min(16, floordiv(t + 8, 8)) { ... }    // k < t + 1 is needed
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
// cover whole iterations, so more elements than are needed, and none beyond the
// axis. Notes the parts that they cover in StageLoops::parts.
void ShortenLoops(const Computation& computation, StageLoops& loops,
                  loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_SHORTEN_LOOPS_H_
