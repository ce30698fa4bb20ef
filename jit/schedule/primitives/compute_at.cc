// compute_at: computes a stage inside a loop of the stage that reads it.
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {

Status ComputeAt(Schedule& schedule, const PrimitiveCall& call) {
  EMBER_ASSIGN_OR_RETURN(const int producer, StageOperand(schedule, call, 0));
  EMBER_ASSIGN_OR_RETURN(const int consumer, StageOperand(schedule, call, 1));
  EMBER_ASSIGN_OR_RETURN(const int loop,
                         LoopOperand(schedule, consumer, call, 2));
  if (schedule.plan(producer).attach_stage >= 0)
    return FailedPreconditionError(
        "the producer is computed in a loop already");
  EMBER_RETURN_IF_ERROR(CheckAttachment(schedule, producer, consumer, loop));
  StagePlan& plan = schedule.mutable_plan(producer);
  plan.attach_stage = consumer;
  plan.attach_loop = loop;
  return OkStatus();
}

}  // namespace ember::schedule
