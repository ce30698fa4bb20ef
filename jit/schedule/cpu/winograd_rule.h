// Where a convolution is computed by Winograd's method. A part of the default
// schedule for CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_

#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/schedule/rules/stage_groups.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// A convolution by Winograd's method, as ScheduleProduct. False if it is none,
// or would not be faster; nothing is changed then.
bool ScheduleWinograd(const jit::CpuModel& cpu, const StageGroup& group,
                      const std::string& conv, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_WINOGRAD_RULE_H_
