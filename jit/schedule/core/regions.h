// Which part of a buffer the inside of a loop reads. Internal to schedules and
// lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_REGIONS_H_
#define EMBER_JIT_SCHEDULE_CORE_REGIONS_H_

#include <set>
#include <vector>

#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// What stands in a loop's body: stages with their loops there, and the
// variables that move inside it (all others stand still).
struct LoopBody {
  std::vector<const StageLoops*> stages;
  std::set<NodeId> moving;
};

// For each dim of the buffer, a part that holds all elements that the body
// loads from it; the whole dim where more is not known. What matrices are
// loaded from may reach beyond the end. full: the buffer's extents in the
// nest's pool.
std::vector<AxisRegion> RegionRead(const Computation& computation,
                                   uint32_t buffer, const LoopBody& body,
                                   const std::vector<NodeId>& full,
                                   loops::LoopNest& nest);

// Lets the loop over a fold's elements end where no point of the loops inside
// it has useful ones (UsefulElements): the extent then depends on the loops
// around it. Elsewhere than in a serial loop over the whole axis nothing
// changes.
void EndAtUsefulElements(const Computation& computation, StageLoops& loops,
                         loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_REGIONS_H_
