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

// Returns how many neighbours along the root's last axis an invocation should
// compute as a vector. The number is more than 1 only if all loads and stores
// of the root and of the `joined` stages, which are computed for its points,
// are then aligned vectors, and enough invocations are left to keep the device
// busy.
int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& computation,
                      const StageRef& root, const std::set<StageRef>& joined);

// True if the joined stages can be computed as vectors along the root's last
// axis: each has one value for all neighbours, or neighbouring values and no
// reduction.
bool HaveLanes(const Computation& computation, const StageRef& root,
               const std::set<StageRef>& joined);

// Vectorizes the joined stages over the neighbours that an invocation computes,
// except stages that have one value for all of them. Returns false if HaveLanes
// does, or if a primitive is refused.
bool VectorizeJoined(const StageRef& root, const std::set<StageRef>& joined,
                     ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_VECTOR_RULE_H_
