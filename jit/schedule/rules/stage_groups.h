// Finds groups of stages that can run together, row by row. The default
// schedules of all targets share this analysis.
//
//   %max[i]  = maximum(j < 64) %x[i, j]
//   %e[i, j] = exp(%x[i, j] - %max[i])
//   %y[i, j] = %e[i, j] * 2                 root: %y
//
// are a group of depth 1: row i of each stage only needs row i of the others.
// Nothing here depends on what the stages compute.
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_
#define EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_

#include <functional>
#include <set>
#include <vector>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"

namespace ember::schedule {

// Stages that run together: `root` and the stages that are computed in its
// loops.
struct StageGroup {
  StageRef root;
  std::vector<StageRef> members;  // the other stages, in order
  // Number of the root's leading axes that all stages have in common: two
  // points that differ in these axes never need the same element of a member.
  int depth = 0;
};

// A function that is true if the stage should join the group. The group's depth
// would then be `depth`.
using JoinRule =
    std::function<bool(int stage, int depth, const StageGroup& group)>;

// Returns the root with the stages before it that only the group reads, that
// are not in `done`, and for which `is_worth` holds. No primitive may have
// changed these stages yet.
StageGroup GroupOf(const Schedule& schedule, const StageRef& root,
                   const std::set<StageRef>& done, const JoinRule& is_worth);

// True if the stage copies elements from places that data gives, and only
// products read it. An example is the keys of attention, which a table looks up
// in blocks of a cache. The stage has no rows in common with the products, so
// it is computed by itself, or in slices in their loops.
bool IsLookupForProducts(const Computation& computation, int stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_
