// The loops of one stage at one place of the nest: extents, variables, and what
// the stage's axes are in terms of them. Internal to schedules and lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_
#define EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// The part of an axis that is computed: [base, base + extent).
struct AxisRegion {
  NodeId base = 0;
  NodeId extent = 0;
};

// a < b must hold where the loops are at a point, or there is no such point.
struct Guard {
  NodeId a = 0;
  NodeId b = 0;
  int position = 0;  // in the order, of the last loop that it depends on
  bool is_reduction = false;
  // Of the end of the axis, where the region that is computed reaches beyond.
  bool is_of_region = false;
  // Holds anyhow, and is there for who proves the nest's bounds: only ranges
  // that schedules know of say so (Facts::Has, not IsBelow).
  bool is_fact = false;
};

struct StageLoops {
  int stage = 0;
  const StagePlan* plan = nullptr;
  std::vector<AxisRegion> regions;  // per axis
  std::vector<NodeId> extents;      // per loop of the plan
  std::vector<NodeId> values;       // per loop of the plan
  std::vector<NodeId> axes;         // per axis: its value
  std::vector<Guard> guards;
  // Where the stage's points end (ComputationStage::end), if that is known
  // where the first loop begins that combines.
  std::optional<NodeId> end;
  // Of peeled loops: under a < b the split needs no guard.
  std::vector<Guard> exact;

  bool IsReduction(int position) const {
    return plan->loops[plan->order[position]].is_reduction;
  }
  // Of the outermost reduction loop; the number of loops if there is none.
  int FirstReduction() const;
};

// What a loop with the mark becomes.
loops::LoopKind LoopKindOf(LoopMark mark);

// A variable that no stage has: the name with a number.
NodeId AddVariable(loops::LoopNest& nest, const std::string& name,
                   NodeId extent);

// Makes variables for the stage's loops. full: the axes' whole extents, in the
// nest's pool; the regions are parts of them. Where the loops are not made for
// the nest, but to see what they cover of a larger part (`is_placed` is false),
// loops with marks may be longer than those can be.
StatusOr<StageLoops> MakeStageLoops(const Schedule& schedule, int stage,
                                    std::vector<AxisRegion> regions,
                                    const std::vector<NodeId>& full,
                                    bool is_placed, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_STAGE_LOOPS_H_
