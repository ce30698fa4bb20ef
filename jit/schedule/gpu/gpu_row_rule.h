// Groups of stages that run row by row, and long reductions, on GPUs. A part of
// the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RULE_H_

#include <set>
#include <string>

#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// A group of stages that runs row by row, with reductions along the rows, of
// which `root` is the last. False if the rule does not apply; nothing is
// changed then. done: gets the other stages of the group.
bool ScheduleRowsOnGpu(const jit::GpuModel& gpu, const std::string& root,
                       std::set<std::string>& done, ScheduleWriter& writer);

// Splits a reduction to too few results to keep the device busy, or too long
// for one invocation, in two (rfactor): a stage `parts` is new. False if that
// does not pay.
bool SplitReductionOnGpu(const jit::GpuModel& gpu, const std::string& stage,
                         const std::string& parts, ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_ROW_RULE_H_
