// Schedules points whose neighbours in results are not neighbours in operands:
//
//   %y[n, h, c] = %x[n, c, h]
//
// Each load would read as many cache lines as there are invocations if each
// point had an invocation of its own. So a workgroup has a square of points,
// along both axes. It first copies its operands to its own memory, in the order
// of their memory:
//
//   phase tasks {
//     invocation ... { %x.slice[0, c, h] = %x[n, tile * 64 + c, tile * 64 + h] }
//     invocation ... { %y[n, ...h, ...c] = %x.slice[0, c, h] }
//   }
//
// A side of the square has as many elements as a subgroup moves at once in
// words of 4 bytes, one for each invocation: 64 of f16 if a subgroup has 32
// invocations. A part of the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_TRANSPOSE_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_TRANSPOSE_RULE_H_

#include <set>

#include "jit/schedule/core/schedule.h"
#include "jit/schedule/core/steps.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Schedules the stage `root` in squares of points, with the stages that are
// computed for these points, which are added to `done`. Returns false, without
// a change, if no load is transposed, if an extent is open or too short, if
// there are too few points, or if the copies do not fit a workgroup's memory.
bool ScheduleTransposeOnGpu(const jit::GpuModel& gpu, const StageRef& root,
                            std::set<StageRef>& done, Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_TRANSPOSE_RULE_H_
