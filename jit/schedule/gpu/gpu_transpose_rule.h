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
// A side of the square is as many elements long as a subgroup moves at once in
// words of 4 bytes, one for each invocation: 64 of f16 where 32 invocations are
// a subgroup. A part of the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_

#include <set>
#include <string>

#include "jit/schedule/core/schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules the stage `root`, and the stages that are computed for its points,
// whose names are added to `done`. False, and nothing is changed, where no load
// reads across memory, where an extent is open or too short, and where the
// copies do not fit into a workgroup's memory.
bool ScheduleTransposeOnGpu(const jit::GpuModel& gpu, const std::string& root,
                            std::set<std::string>& done, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_TRANSPOSE_RULE_H_
