// Finds the part of its axes that a stage covers when it is computed at a loop
// of another stage. Internal to schedules and lowering.
//
//   for i < N {
//     for j < 8 { %t[0, j] = exp(%x[i, j]) }
//     for j < 8 { %y[i, j] = %t[0, j] * %t[0, 7 - j] }
//   }
//
// %t, computed at loop i of %y, covers row i and all columns. Only 1 x 8
// elements of the temporary are kept.
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

// Returns, for each axis of the stage, the part that the body of a loop needs.
// An axis that the stage combines (a reduction) is needed whole. full: the
// axes' whole extents, in the nest's pool. header: rewrites the computation's
// extents into the nest's pool.
std::vector<AxisRegion> CoveredRegions(const Schedule& schedule, int stage,
                                       const LoopBody& body,
                                       std::span<const NodeId> full,
                                       Rewriter& header, loops::LoopNest& nest);

// The stages that are computed in one loop of another stage (compute_at).
struct PlacedStages {
  // numbers of the stages that are attached to the loop itself, in order
  std::vector<int> attached;
  // For each stage in `attached`, and each stage that is computed inside one of
  // these: its loops.
  std::map<int, StageLoops> loops;
};

// A function that changes the regions of an attached stage: the part of each
// axis that it computes in an iteration of the loop. May be null.
using RegionChange =
    std::function<void(int stage, std::vector<AxisRegion>& regions)>;

// Makes the loops of the stages that are computed in a loop of the stage
// `around`, and of the stages inside them. They cover only the part of each
// axis that an iteration of this loop needs. position: position of the loop in
// the order of around's loops. full: for each stage, the whole extents of its
// axes, in the nest's pool.
StatusOr<PlacedStages> PlaceStages(const Schedule& schedule,
                                   const StageLoops& around, int position,
                                   std::span<const std::vector<NodeId>> full,
                                   const RegionChange& change, Rewriter& header,
                                   loops::LoopNest& nest);

// Checks that no element of a stage that must run once (MustRunOnce) is
// computed twice: each iteration of the surrounding loops must cover a
// different part. If a part cannot be bounded, it counts as everything, so the
// loops may have only one iteration. variables: those of all surrounding loops.
Status CheckPartsAreOwn(const Computation& computation,
                        const PlacedStages& placed,
                        std::span<const NodeId> variables,
                        loops::LoopNest& nest);
// Does this check for the stages in every loop of the schedule: no element of a
// stage that must run once may be computed twice.
Status CheckPartsAreOwn(const Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_ATTACHED_STAGES_H_
