// The loops of one stage at one place of the nest: extents, variables, and the
// stage's axes as expressions over them. Internal to schedules and lowering.
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

// Positions of an axis: [begin, end).
struct AxisPart {
  NodeId begin = 0;
  NodeId end = 0;
};

// The part of an axis that is computed: [base, base + extent).
struct AxisRegion {
  NodeId base = 0;
  NodeId extent = 0;
  // The part of the region that is needed, if loops may leave out the rest. It
  // may differ from iteration to iteration. A buffer keeps the whole region,
  // because its size may not. Set only in regions that are whole axes.
  std::optional<AxisPart> needed;
};

// The part of an axis that loops cover once they are shortened
// (shorten_loops.h). Its begin and end depend on the loops around them.
struct ShortenedAxis {
  AxisPart part;
  // Number of the outermost loop over the axis. Where it does not move, an
  // iteration reads less than the part.
  int loop = 0;
};

// A condition a < b on the values of the loops. The stage is computed only at
// points for which it holds.
struct Guard {
  NodeId a = 0;
  NodeId b = 0;
  // Position, in the order of the loops, of the innermost loop that the guard
  // depends on.
  int position = 0;
  bool is_reduction = false;
  // True if the guard is needed because the computed region reaches beyond the
  // end of the axis.
  bool is_of_region = false;
  // True if the condition always holds, and is in the nest for the verifier's
  // proofs of bounds. Schedules know ranges that imply it, but the verifier
  // does not. So the guard is omitted only if Facts::Has the same condition,
  // not if Facts::IsBelow proves it.
  bool is_fact = false;
};

struct StageLoops {
  int stage = 0;
  const StagePlan* plan = nullptr;
  // per axis of the stage: the part that is computed
  std::vector<AxisRegion> regions;
  // Extent of each loop of the plan, as an expression.
  std::vector<NodeId> extents;
  // Value of each loop of the plan: its variable, or an expression over other
  // loops.
  std::vector<NodeId> values;
  // Extent of each loop before ShortenLoops (shorten_loops.h).
  std::vector<NodeId> whole_extents;
  // Value of each axis of the stage, as an expression over the loops.
  std::vector<NodeId> axes;
  // For each axis: nullopt if its loops were not shortened.
  std::vector<std::optional<ShortenedAxis>> shortened;
  std::vector<Guard> guards;
  // ComputationStage::end as an expression over the loops. It is set only if
  // its value is known before the first loop that combines elements.
  std::optional<NodeId> end;
  // Conditions a < b under which the split of a peeled loop needs no guard.
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

// Returns the kind of loop that a loop with the mark becomes.
loops::LoopKind LoopKindOf(LoopMark mark);

// Adds a loop variable that belongs to no stage. Its name is `name` followed by
// a number.
NodeId AddVariable(loops::LoopNest& nest, const std::string& name,
                   NodeId extent);

// Makes variables for the stage's loops. full: the axes' whole extents, in the
// nest's pool; the regions are parts of them. is_placed: the loops become part
// of the nest. If false, they only serve to find the part that they cover of a
// larger region, and marked loops may have larger extents than allowed.
StatusOr<StageLoops> MakeStageLoops(const Schedule& schedule, int stage,
                                    std::vector<AxisRegion> regions,
                                    const std::vector<NodeId>& full,
                                    bool is_placed, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_
