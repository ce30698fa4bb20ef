// Finds the part of a buffer that the body of a loop reads. Internal to
// schedules and lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_REGIONS_H_
#define EMBER_JIT_SCHEDULE_CORE_REGIONS_H_

#include <set>
#include <vector>

#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// The body of a loop: the stages in it with their loops, and the variables that
// change within the body (`moving`). All other variables are constant within
// the body.
struct LoopBody {
  std::vector<const StageLoops*> stages;
  std::set<NodeId> moving;
};

// Returns, for each dim of the buffer, a part that contains all elements that
// the body loads from it; the whole dim if no smaller part can be proved. Where
// matrices are loaded, the part may reach beyond the dim's end. Where loops
// were shortened (shorten_loops.h), the part is the whole dim, and
// AxisRegion::needed is the part that these loops read. full: the buffer's
// extents in the nest's pool.
std::vector<AxisRegion> RegionRead(const Computation& computation,
                                   uint32_t buffer, const LoopBody& body,
                                   const std::vector<NodeId>& full,
                                   loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_REGIONS_H_
