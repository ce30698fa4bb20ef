// Chooses vector accesses of invocations. A part of the default schedule for
// GPUs.
//
//   %sum[i, j] = f32(%x[i, j]) + %bias[j]         computed for points of %y
//   %y[i, j] = f16(max(%sum[i, j], 0.0))
//
// An invocation has 8 neighbours of %y, for which it loads 16 bytes of %x, and
// 8 values of %sum in registers.
#ifndef EMBER_JIT_SCHEDULE_GPU_VECTOR_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_VECTOR_RULE_H_

#include <cstdint>
#include <set>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/steps.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// Returns how many neighbours along the last axis of the root an invocation
// should have. The number is more than 1 if all loads and stores of the root
// and of the stages that are computed for its points (`joined`) are then
// aligned vectors, and enough invocations are left to keep the device busy.
int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& computation,
                      const StageRef& root, const std::set<StageRef>& joined);

// True if each joined stage has neighbouring values, or one value, for
// neighbours along the root's last axis, and none of these is a reduction.
bool HaveLanes(const Computation& computation, const StageRef& root,
               const std::set<StageRef>& joined);

// Computes the joined stages for all neighbours of an invocation at once,
// except stages that have one value for all. Returns false if a primitive is
// refused.
bool VectorizeJoined(const StageRef& root, const std::set<StageRef>& joined,
                     ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_VECTOR_RULE_H_
