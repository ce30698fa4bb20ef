// Chooses the convolutions that are computed by Winograd's method. A part of
// the default schedule for CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Schedules a convolution by Winograd's method, like ScheduleProduct. Returns
// false, without a change, if the stage is no convolution, if its channels do
// not fill a vector, if the method would not be faster, if the group's root has
// other axes, or if a primitive is refused.
bool ScheduleWinograd(const jit::CpuModel& cpu, const StageGroup& group,
                      const StageRef& conv, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_
