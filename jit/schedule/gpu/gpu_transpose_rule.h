// Points whose neighbours in results are not neighbours in what they read:
//
//   %y[n, h, c] = %x[n, c, h]
//
// An invocation for each point would load from as many lines of memory as there
// are invocations. So a workgroup has a square of points, along both axes, and
// copies what it reads to its own memory, neighbour by neighbour there, first:
//
//   phase tasks {
//     invocation ... { %x.slice[0, c, h] = %x[n, tile * 64 + c, tile * 64 + h] }
//     invocation ... { %y[n, ...h, ...c] = %x.slice[0, c, h] }
//   }
//
// A side is as long as a subgroup has words. A part of the default schedule for
// GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_

#include <set>
#include <string>

#include "jit/schedule/core/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules the root, and the stages that are computed for its points, which
// are added to `done`. False if there is nothing to be gained, or it cannot be;
// nothing is changed then.
bool ScheduleTransposeOnGpu(const jit::GpuModel& gpu, const std::string& root,
                            std::set<std::string>& done, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_
