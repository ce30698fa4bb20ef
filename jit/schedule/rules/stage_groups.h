// Which stages can run together, row by row: the analysis that the default
// schedules of all targets share.
//
//   %max[i]  = maximum(j < 64) %x[i, j]
//   %e[i, j] = exp(%x[i, j] - %max[i])
//   %y[i, j] = %e[i, j] * 2                 root: %y
//
// are a group of depth 1: a row i of each stage is all that a row of the others
// needs. Nothing here knows what the stages compute.
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_
#define EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Stages that run together: `root` and those that are computed in its loops.
// By name, as primitives insert stages.
struct StageGroup {
  std::string root;
  std::vector<std::string> members;  // in order, without the root
  // So many of the root's axes, from the first on, are common to all: none of
  // their points needs a member's element twice.
  int depth = 0;
};

// Whether the stage is to join the group, whose depth would then be `depth`.
using JoinRule =
    std::function<bool(int stage, int depth, const StageGroup& group)>;

// The root with the stages before it that nothing but the group reads, and that
// `is_worth` wants; none of `done`. The schedule is as the dispatch is written,
// as far as these stages go.
StageGroup GroupOf(const Schedule& schedule, const std::string& root,
                   const std::set<std::string>& done, const JoinRule& is_worth);

// Whether the stage copies elements from where data says, and only products
// read it: keys of attention that a table looks up in blocks of a cache. It has
// no rows in common with them: it is made by itself, or by slices in their
// loops.
bool IsLookupForProducts(const Computation& computation, int stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_RULES_STAGE_GROUPS_H_
