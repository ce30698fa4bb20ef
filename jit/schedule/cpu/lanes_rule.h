// Vectorizes stages that are no products. A part of the default schedule for
// CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_

#include <string>

#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// An axis whose loop was split. Lanes may run along the inner loop.
struct SplitAxis {
  int axis = -1;
  std::string inner;
};

// Chooses and schedules the lanes of a stage that is no product, along axes
// that are not among its group's common axes.
void ScheduleLanes(const jit::CpuModel& cpu, const std::string& stage,
                   const CommonAxes& common, ScheduleWriter& writer,
                   const SplitAxis& split = {});

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
