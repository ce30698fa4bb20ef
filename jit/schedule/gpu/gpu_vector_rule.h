// Vector accesses of invocations. A part of the default schedule for GPUs.
#ifndef EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_
#define EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_

#include <cstdint>

#include "jit/schedule/core/computation.h"
#include "jit/target/gpu_model.h"

namespace ember::schedule {

// How many neighbours along the last axis an invocation is to have: more than 1
// where all of what the stage loads and stores along it are aligned vectors
// then, and enough invocations are left to keep the device busy.
int64_t LanesOfPoints(const jit::GpuModel& gpu, const Computation& computation,
                      int stage);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_GPU_VECTOR_RULE_H_
