// compute_at: computes a stage inside a loop of the stage that reads it.
#include "jit/schedule/core/attachments.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {

Status Change(const ComputeAt& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int producer, Find(schedule, step.producer));
  EMBER_ASSIGN_OR_RETURN(const int consumer, Find(schedule, step.loop.stage));
  EMBER_ASSIGN_OR_RETURN(const int loop, Find(schedule, consumer, step.loop));
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
