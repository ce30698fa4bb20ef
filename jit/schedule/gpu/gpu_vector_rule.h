// Vector accesses of invocations. A part of the default schedule for GPUs.
//
//   %sum[i, j] = f32(%x[i, j]) + %bias[j]         computed for points of %y
//   %y[i, j] = f16(max(%sum[i, j], 0.0))
//
// An invocation has 8 neighbours of %y, for which it loads 16 bytes of %x, and
// 8 values of %sum in registers.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_

#include <cstdint>
#include <set>
#include <string>

#include "jit/schedule/core/computation.h"
#include "jit/schedule/rules/schedule_writer.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// How many neighbours along the last axis of the root an invocation is to have:
// more than 1 where all of what the root and the stages that are computed for
// its points (`joined`) load and store along it are aligned vectors then, and
// enough invocations are left to keep the device busy.
int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& computation,
                      const std::string& root,
                      const std::set<std::string>& joined);

// Whether neighbours along the root's last axis have neighbours of the joined
// stages each, or one value, and none of these is a reduction.
bool HaveLanes(const Computation& computation, const std::string& root,
               const std::set<std::string>& joined);

// Computes the joined stages for all of the neighbours at once, but for those
// that have one value for all. False where that cannot be.
bool VectorizeJoined(const std::string& root,
                     const std::set<std::string>& joined,
                     ScheduleWriter& writer);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_
