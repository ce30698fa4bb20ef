// Primitives that change the loops of one stage.
#include <algorithm>
#include <utility>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {
namespace {

// Refuses if another stage is attached to the loop: such a loop must not
// change.
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

// Splits loop `loop` by the factor; the new loops take its place in the order.
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

Status Mark(Schedule& schedule, const PrimitiveCall& call, LoopMark mark) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int loop, LoopOperand(schedule, stage, call, 1));
  StagePlan& plan = schedule.mutable_plan(stage);
  EMBER_RETURN_IF_ERROR(CheckSerial(plan.loops[loop]));
  plan.loops[loop].mark = mark;
  return CheckMark(schedule, stage, loop);
}

}  // namespace

Status Split(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int loop, LoopOperand(schedule, stage, call, 1));
  EMBER_ASSIGN_OR_RETURN(const int64_t factor, NumberOperand(call, 2));
  EMBER_RETURN_IF_ERROR(CheckNewLoopNames(schedule.plan(stage), call));
  return SplitLoop(schedule, stage, loop, factor, call.results[0],
                   call.results[1]);
}

Status Tile(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int i, LoopOperand(schedule, stage, call, 1));
  EMBER_ASSIGN_OR_RETURN(const int j, LoopOperand(schedule, stage, call, 2));
  EMBER_ASSIGN_OR_RETURN(const int64_t rows, NumberOperand(call, 3));
  EMBER_ASSIGN_OR_RETURN(const int64_t columns, NumberOperand(call, 4));
  EMBER_RETURN_IF_ERROR(CheckNewLoopNames(schedule.plan(stage), call));
  const int position = schedule.plan(stage).PositionOf(i);
  if (i == j || schedule.plan(stage).PositionOf(j) != position + 1)
    return FailedPreconditionError(
        "the loops are not neighbours in this order");
  EMBER_RETURN_IF_ERROR(
      SplitLoop(schedule, stage, i, rows, call.results[0], call.results[2]));
  EMBER_RETURN_IF_ERROR(
      SplitLoop(schedule, stage, j, columns, call.results[1], call.results[3]));
  std::vector<int> wanted;
  for (const std::string& name : call.results)
    wanted.push_back(schedule.plan(stage).FindLoop(name));
  return ReorderLoops(schedule, stage, wanted);
}

Status Fuse(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int outer,
                         LoopOperand(schedule, stage, call, 1));
  EMBER_ASSIGN_OR_RETURN(const int inner,
                         LoopOperand(schedule, stage, call, 2));
  EMBER_RETURN_IF_ERROR(CheckNewLoopNames(schedule.plan(stage), call));
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
  fused.name = call.results[0];
  fused.origin = Loop::Origin::kFused;
  fused.parent = outer;
  fused.second = inner;
  fused.is_reduction = plan.loops[outer].is_reduction;
  plan.loops.push_back(std::move(fused));
  plan.order[position] = static_cast<int>(plan.loops.size()) - 1;
  plan.order.erase(plan.order.begin() + position + 1);
  return OkStatus();
}

Status Reorder(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  std::vector<int> wanted;
  for (size_t i = 1; i < call.operands.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(const int loop,
                           LoopOperand(schedule, stage, call, i));
    wanted.push_back(loop);
  }
  return ReorderLoops(schedule, stage, wanted);
}

Status Unroll(Schedule& schedule, const PrimitiveCall& call) {
  return Mark(schedule, call, LoopMark::kUnrolled);
}

Status Vectorize(Schedule& schedule, const PrimitiveCall& call) {
  return Mark(schedule, call, LoopMark::kVector);
}

Status Parallel(Schedule& schedule, const PrimitiveCall& call) {
  return Mark(schedule, call, LoopMark::kParallel);
}

Status Bind(Schedule& schedule, const PrimitiveCall& call) {
  return Mark(schedule, call, LoopMark::kInvocation);
}

Status Peel(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int stage, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int loop, LoopOperand(schedule, stage, call, 1));
  Loop& outer = schedule.mutable_plan(stage).loops[loop];
  if (outer.origin != Loop::Origin::kOuter) {
    return FailedPreconditionError("loop '" + outer.name +
                                   "' is not the outer one of a split");
  }
  outer.peeled = true;
  return OkStatus();
}

}  // namespace ember::schedule
