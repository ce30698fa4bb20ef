// Schedules groups of stages that run row by row, and long reductions, on GPUs.
// A part of the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_ROW_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_ROW_RULE_H_

#include <set>

#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules a group of stages that run row by row, with reductions along the
// rows. `root`: the last stage of the group. Returns false, without a change,
// if the rule does not apply. done: gets the other stages of the group.
bool ScheduleRowsOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                       std::set<StageRef>& done, ScheduleWriter& writer);

// Splits a reduction into two stages (rfactor) if it has too few results to
// keep the device busy, or is too long for one invocation. `parts`: the name of
// the new stage. Returns false, without a change, if neither is the case, if
// the stage is a fold, if its points may store to one element, if there would
// be too few parts, or if the primitive is refused.
bool SplitReductionOnGpu(const jit::GpuModel& gpu, const StageRef& stage,
                         const StageRef& parts, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_ROW_RULE_H_
