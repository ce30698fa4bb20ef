// Vectorizes stages that are no products. A part of the default schedule for
// CPUs.
#ifndef EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
#define EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_

#include <optional>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/root_axes.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/cpu_model.h"

namespace ember::schedule {

// An axis whose loop was split. Lanes may run along the inner loop.
struct SplitAxis {
  int axis = 0;
  LoopRef inner;
};

// Chooses and schedules the lanes of a stage that is no product, along axes
// that are not among its group's common axes. `split`: the stage's only axis
// whose loop was split, if there is one.
void ScheduleLanes(const jit::CpuModel& cpu, const StageRef& stage,
                   const CommonAxes& common, ScheduleWriter& writer,
                   const std::optional<SplitAxis>& split = std::nullopt);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CPU_LANES_RULE_H_
