// Vectorizes stages that are no products. A part of the default schedule for
// CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_

#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// Chooses lanes for a stage that is no product, along axes from `first` on.
void ScheduleLanes(const jit::CpuModel& cpu, const std::string& stage,
                   int first, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
