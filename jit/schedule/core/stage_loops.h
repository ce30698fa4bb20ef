// The loops of one stage at one place in the nest: their extents and variables,
// and the stage's axes as expressions over these variables. Internal to
// schedules and lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_
#define EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// The elements begin .. end - 1 of an axis.
struct AxisPart {
  NodeId begin = 0;
  NodeId end = 0;
};

// The part of an axis that a stage computes: the elements base .. base + extent
// - 1.
struct AxisRegion {
  NodeId base = 0;
  NodeId extent = 0;
  // The part of the region that is needed, if shortened loops may leave out the
  // rest; it may differ between iterations. A buffer still holds the whole
  // region, because its extent may not differ. Set only in regions that are
  // whole axes.
  std::optional<AxisPart> needed;
};

// The part of an axis that its loops cover after they were shortened
// (shorten_loops.h). Its begin and end may depend on surrounding loops.
struct ShortenedAxis {
  AxisPart part;
  // Number of the outermost loop over the axis. An iteration of this loop
  // covers only a piece of `part`.
  int loop = 0;
};

// A condition a < b on the values of the loops. The stage is computed only at
// points for which it holds.
struct Guard {
  NodeId a = 0;
  NodeId b = 0;
  // position, in the order of the loops, of the innermost loop whose variable
  // the condition contains
  int position = 0;
  bool is_reduction = false;
  // True if the guard is needed because the computed region may reach beyond
  // the end of the axis.
  bool is_of_region = false;
  // True if the condition always holds, and is in the nest only as a fact for
  // the verifier, which does not know the ranges that imply it. Such a guard is
  // left out only if the surrounding conditions contain it literally
  // (Facts::Has), not if they imply it (Facts::IsBelow).
  bool is_fact = false;
};

struct StageLoops {
  int stage = 0;
  const StagePlan* plan = nullptr;
  // for each axis of the stage: the part that is computed
  std::vector<AxisRegion> regions;
  // for each loop of the plan: its extent, as an expression
  std::vector<NodeId> extents;
  // for each loop of the plan: its value, which is its variable or an
  // expression over other loops
  std::vector<NodeId> values;
  // for each loop of the plan: its extent before ShortenLoops (shorten_loops.h)
  std::vector<NodeId> whole_extents;
  // for each axis of the stage: its value, as an expression over the loops
  std::vector<NodeId> axes;
  // For each axis: the part that its shortened loops cover; nullopt if they
  // were not shortened.
  std::vector<std::optional<ShortenedAxis>> shortened;
  std::vector<Guard> guards;
  // The number of elements that a point combines (ComputationStage::end), as an
  // expression over the loops. Set only if it is known before the outermost
  // reduction loop.
  std::optional<NodeId> end;
  // For the splits of peeled loops: conditions a < b under which the split
  // needs no guard.
  std::vector<Guard> exact;

  bool IsReduction(int position) const {
    return plan->loops[plan->order[position]].is_reduction;
  }
  // Returns the position of the outermost reduction loop; the number of loops
  // if there is none.
  int FirstReduction() const;
};

// Returns a rewriter from expressions over the stage's axes to expressions over
// its loops, in the pool of the nest. The arguments must outlive it.
Rewriter ToLoops(const Computation& computation, const StageLoops& loops,
                 tensor::ExpressionPool& pool);

// Returns the kind of loop in the nest that a loop with the mark becomes.
loops::LoopKind LoopKindOf(LoopMark mark);

// Adds a loop variable that belongs to no stage's loop. Its name is `name`
// followed by a number.
NodeId AddVariable(loops::LoopNest& nest, const std::string& name,
                   NodeId extent);

// Makes the variables, extents and guards of the stage's loops. full: the whole
// extents of the axes, in the nest's pool; the regions are parts of them.
// is_placed: true if the loops become part of the nest. If false, they only
// serve to find which part of a larger region they cover, and loops with marks
// may be longer than marks allow.
StatusOr<StageLoops> MakeStageLoops(const Schedule& schedule, int stage,
                                    std::vector<AxisRegion> regions,
                                    const std::vector<NodeId>& full,
                                    bool is_placed, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_
