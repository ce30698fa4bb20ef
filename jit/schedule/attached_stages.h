// What a stage that is computed at a loop of another one covers there, and what
// is kept of it. Internal to lowering.
//
//   for i < N {
//     for j < 8 { %t[0, j] = exp(%x[i, j]) }
//     for j < 8 { %y[i, j] = %t[0, j] * %t[0, 7 - j] }
//   }
//
// %t, computed at loop i of %y, covers row i and all columns; of the temporary
// 1 x 8 elements are kept.
#ifndef EMBER_JIT_SCHEDULE_ATTACHED_STAGES_H_
#define EMBER_JIT_SCHEDULE_ATTACHED_STAGES_H_

#include <optional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/regions.h"
#include "jit/schedule/rewrite.h"
#include "jit/schedule/schedule.h"
#include "jit/schedule/stage_loops.h"
#include "jit/schedule/stage_values.h"

namespace ember::schedule {

// Whether the stage stores to a result of the dispatch.
bool StoresResult(const Computation& computation, int stage);

// The part of each axis of a stage that the body needs; all of an axis that is
// combined. full: the axes' whole extents, in the nest's pool. header: rewrites
// the computation's extents into it.
std::vector<AxisRegion> CoveredRegions(const Schedule& schedule, int stage,
                                       const LoopBody& body,
                                       std::span<const NodeId> full,
                                       Rewriter& header, loops::LoopNest& nest);

// Makes the stage's temporaries as large as the regions, memory of a task, and
// notes that in `storage`. invocation: of the loop around, if any, of whose
// values each has its own.
void KeepRegions(const Computation& computation, int stage,
                 std::span<const AxisRegion> regions,
                 std::optional<NodeId> invocation, loops::LoopNest& nest,
                 std::vector<std::optional<RegionStorage>>& storage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_ATTACHED_STAGES_H_
