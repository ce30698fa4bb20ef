// Primitives that change the loops of one stage.
#include <algorithm>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {
namespace {

// Returns an error if another stage is attached to the loop, because such a
// loop must not change.
Status CheckNotAttachedTo(const Schedule& schedule, int stage, int loop) {
  const Computation& computation = schedule.computation();
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    const StagePlan& plan = schedule.plan(static_cast<int>(i));
    if (plan.attach_stage != stage || plan.attach_loop != loop) continue;
    return FailedPreconditionError("%" + computation.stages[i].name +
                                   " is computed at this loop");
  }
  return OkStatus();
}

Status CheckSerial(const Loop& loop) {
  if (loop.mark == LoopMark::kSerial) return OkStatus();
  return FailedPreconditionError("loop '" + loop.name +
                                 "' is marked already: mark loops last");
}

// Splits loop `loop` by the factor. The two new loops take its place in the
// order.
Status SplitLoop(Schedule& schedule, int stage, int loop, int64_t factor,
                 std::string outer_name, std::string inner_name) {
  EMBER_RETURN_IF_ERROR(CheckNotAttachedTo(schedule, stage, loop));
  StagePlan& plan = schedule.mutable_plan(stage);
  EMBER_RETURN_IF_ERROR(CheckSerial(plan.loops[loop]));
  Loop outer;
  outer.name = std::move(outer_name);
  outer.origin = Loop::Origin::kOuter;
  outer.parent = loop;
  outer.factor = factor;
  outer.is_reduction = plan.loops[loop].is_reduction;
  Loop inner = outer;
  inner.name = std::move(inner_name);
  inner.origin = Loop::Origin::kInner;
  const int first = static_cast<int>(plan.loops.size());
  plan.loops.push_back(std::move(outer));
  plan.loops.push_back(std::move(inner));
  const int position = plan.PositionOf(loop);
  plan.order[position] = first;
  plan.order.insert(plan.order.begin() + position + 1, first + 1);
  return OkStatus();
}

Status ReorderLoops(Schedule& schedule, int stage,
                    const std::vector<int>& wanted) {
  StagePlan& plan = schedule.mutable_plan(stage);
  std::vector<int> positions;
  for (int loop : wanted) positions.push_back(plan.PositionOf(loop));
  std::sort(positions.begin(), positions.end());
  if (std::adjacent_find(positions.begin(), positions.end()) !=
      positions.end()) {
    return InvalidArgumentError("expected each loop once");
  }
  for (size_t i = 0; i < wanted.size(); ++i)
    plan.order[positions[i]] = wanted[i];
  return OkStatus();
}

Status Mark(Schedule& schedule, const LoopRef& ref, LoopMark mark) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, ref.stage));
  EMBER_ASSIGN_OR_RETURN(const int loop, Find(schedule, stage, ref));
  StagePlan& plan = schedule.mutable_plan(stage);
  EMBER_RETURN_IF_ERROR(CheckSerial(plan.loops[loop]));
  plan.loops[loop].mark = mark;
  return CheckMark(schedule, stage, loop);
}

}  // namespace

Status Change(const Split& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.loop.stage));
  EMBER_ASSIGN_OR_RETURN(const int loop, Find(schedule, stage, step.loop));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.factor));
  EMBER_RETURN_IF_ERROR(
      CheckNewLoopNames(schedule.plan(stage), {step.outer, step.inner}));
  return SplitLoop(schedule, stage, loop, step.factor, step.outer, step.inner);
}

Status Change(const Tile& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.i.stage));
  EMBER_ASSIGN_OR_RETURN(const int i, Find(schedule, stage, step.i));
  EMBER_ASSIGN_OR_RETURN(const int j, Find(schedule, stage, step.j));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.rows));
  EMBER_RETURN_IF_ERROR(CheckFactor(step.columns));
  const auto names = {step.outer_i, step.outer_j, step.inner_i, step.inner_j};
  EMBER_RETURN_IF_ERROR(CheckNewLoopNames(schedule.plan(stage), names));
  const int position = schedule.plan(stage).PositionOf(i);
  if (i == j || schedule.plan(stage).PositionOf(j) != position + 1)
    return FailedPreconditionError(
        "the loops are not neighbours in this order");
  EMBER_RETURN_IF_ERROR(
      SplitLoop(schedule, stage, i, step.rows, step.outer_i, step.inner_i));
  EMBER_RETURN_IF_ERROR(
      SplitLoop(schedule, stage, j, step.columns, step.outer_j, step.inner_j));
  std::vector<int> wanted;
  for (const std::string& name : names)
    wanted.push_back(schedule.plan(stage).FindLoop(name));
  return ReorderLoops(schedule, stage, wanted);
}

Status Change(const Fuse& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.outer.stage));
  EMBER_ASSIGN_OR_RETURN(const int outer, Find(schedule, stage, step.outer));
  EMBER_ASSIGN_OR_RETURN(const int inner, Find(schedule, stage, step.inner));
  EMBER_RETURN_IF_ERROR(CheckNewLoopNames(schedule.plan(stage), {step.fused}));
  EMBER_RETURN_IF_ERROR(CheckNotAttachedTo(schedule, stage, outer));
  EMBER_RETURN_IF_ERROR(CheckNotAttachedTo(schedule, stage, inner));
  StagePlan& plan = schedule.mutable_plan(stage);
  EMBER_RETURN_IF_ERROR(CheckSerial(plan.loops[outer]));
  EMBER_RETURN_IF_ERROR(CheckSerial(plan.loops[inner]));
  const int position = plan.PositionOf(outer);
  if (plan.PositionOf(inner) != position + 1)
    return FailedPreconditionError(
        "the loops are not neighbours in this order");
  if (plan.loops[outer].is_reduction != plan.loops[inner].is_reduction) {
    return FailedPreconditionError(
        "one of the loops runs over points of the result, the other over what "
        "is combined");
  }
  Loop fused;
  fused.name = step.fused;
  fused.origin = Loop::Origin::kFused;
  fused.parent = outer;
  fused.second = inner;
  fused.is_reduction = plan.loops[outer].is_reduction;
  plan.loops.push_back(std::move(fused));
  plan.order[position] = static_cast<int>(plan.loops.size()) - 1;
  plan.order.erase(plan.order.begin() + position + 1);
  return OkStatus();
}

Status Change(const Reorder& step, Schedule& schedule) {
  if (step.loops.size() < 2)
    return InvalidArgumentError("expected two loops or more");
  EMBER_ASSIGN_OR_RETURN(const int stage,
                         Find(schedule, step.loops.front().stage));
  std::vector<int> wanted;
  for (const LoopRef& ref : step.loops) {
    EMBER_ASSIGN_OR_RETURN(const int loop, Find(schedule, stage, ref));
    wanted.push_back(loop);
  }
  return ReorderLoops(schedule, stage, wanted);
}

Status Change(const Unroll& step, Schedule& schedule) {
  return Mark(schedule, step.loop, LoopMark::kUnrolled);
}

Status Change(const Vectorize& step, Schedule& schedule) {
  return Mark(schedule, step.loop, LoopMark::kVector);
}

Status Change(const Parallel& step, Schedule& schedule) {
  return Mark(schedule, step.loop, LoopMark::kParallel);
}

Status Change(const Bind& step, Schedule& schedule) {
  return Mark(schedule, step.loop, LoopMark::kInvocation);
}

Status Change(const Peel& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.outer.stage));
  EMBER_ASSIGN_OR_RETURN(const int loop, Find(schedule, stage, step.outer));
  Loop& outer = schedule.mutable_plan(stage).loops[loop];
  if (outer.origin != Loop::Origin::kOuter) {
    return FailedPreconditionError("loop '" + outer.name +
                                   "' is not the outer one of a split");
  }
  outer.peeled = true;
  return OkStatus();
}

}  // namespace ember::schedule
