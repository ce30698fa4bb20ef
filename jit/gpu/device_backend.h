// The default schedules of all back ends for GPUs, which their rows in the
// table (jit/backend/backend.h) share.
//
//   const Backend kCudaBackend = {"cuda", Serves, gpu::ScheduleForDevice,
//                                 Compile};
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_DEVICE_BACKEND_H_
#define EMBER_JIT_GPU_DEVICE_BACKEND_H_

#include <string_view>

#include "base/status.h"
#include "jit/backend/backend.h"
#include "jit/schedule/core/schedule.h"

namespace ember::jit::gpu {

// Implements Backend::schedule with the model of a GPU that the target's text
// describes (jit/target/gpu_model.h).
Status ScheduleForDevice(std::string_view target,
                         const ScheduleOptions& options,
                         schedule::Schedule& schedule);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_BACKEND_H_
