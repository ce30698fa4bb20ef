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

// Stages that are computed together, row by row: `root`, and the stages that
// are computed in its loops.
struct StageGroup {
  StageRef root;
  std::vector<StageRef> members;  // stages other than the root, in order
  // Number of the root's first axes that all stages have in common: two points
  // of the root that differ in such an axis never need the same element of a
  // member.
  int depth = 0;
};

// Returns true if a stage should join the group, which would then have depth
// `depth`.
using JoinRule =
    std::function<bool(int stage, int depth, const StageGroup& group)>;

// Returns the group of the root: earlier stages that only stages of the group
// read, that have axes in common with the root, that are not in `done`, and for
// which `is_worth` returns true. Only the member itself stores to its buffers,
// point by point, and it reads only constants if the root does, and only then.
// No stage joins a root whose points may store to one element. No primitive may
// have changed these stages yet.
StageGroup GroupOf(const Schedule& schedule, const StageRef& root,
                   const std::set<StageRef>& done, const JoinRule& is_worth);

// True if the stage looks up elements at loaded indices, and only products read
// it: for example the keys of attention in a cache of blocks. It has no rows in
// common with the products, so it is computed by itself, or slice by slice in
// their loops.
bool IsLookupForProducts(const Computation& computation, int stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_
