// What a stage that is computed at a loop of another one covers there. Internal
// to schedules and lowering.
//
//   for i < N {
//     for j < 8 { %t[0, j] = exp(%x[i, j]) }
//     for j < 8 { %y[i, j] = %t[0, j] * %t[0, 7 - j] }
//   }
//
// %t, computed at loop i of %y, covers row i and all columns; of the temporary
// 1 x 8 elements are kept.
#ifndef EMBER_JIT_SCHEDULE_CORE_ATTACHED_STAGES_H_
#define EMBER_JIT_SCHEDULE_CORE_ATTACHED_STAGES_H_

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/regions.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/stage_loops.h"

namespace ember::schedule {

// The part of each axis of a stage that the body needs; all of an axis that is
// combined. full: the axes' whole extents, in the nest's pool. header: rewrites
// the computation's extents into it.
std::vector<AxisRegion> CoveredRegions(const Schedule& schedule, int stage,
                                       const LoopBody& body,
                                       std::span<const NodeId> full,
                                       Rewriter& header, loops::LoopNest& nest);

// Stages at a loop.
struct PlacedStages {
  std::vector<int> attached;        // computed right there, in order
  std::map<int, StageLoops> loops;  // of these and of stages further in
};

// Changes what is computed of an attached stage; null: nothing.
using RegionChange =
    std::function<void(int stage, std::vector<AxisRegion>& regions)>;

// The stages at loop `position` of `around`, and what they cover there. full:
// per stage, as above.
StatusOr<PlacedStages> PlaceStages(const Schedule& schedule,
                                   const StageLoops& around, int position,
                                   std::span<const std::vector<NodeId>> full,
                                   const RegionChange& change, Rewriter& header,
                                   loops::LoopNest& nest);

// Stages that must run once (MustRunOnce) cover a part of their own in each
// iteration of the loops around: no element is computed twice, neither one
// after another nor at once. A part that cannot be bounded is everything, so
// more than one iteration is refused. variables: of all loops around.
Status CheckPartsAreOwn(const Computation& computation,
                        const PlacedStages& placed,
                        std::span<const NodeId> variables,
                        loops::LoopNest& nest);
// The same at all loops of the schedule.
Status CheckPartsAreOwn(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ATTACHED_STAGES_H_
