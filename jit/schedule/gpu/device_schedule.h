// The default schedules of all back ends for GPUs, which their rows in the
// table (jit/backend/backend.h) share.
//
//   const Backend kCudaBackend = {"cuda", Serves, schedule::ScheduleForDevice,
//                                 Compile};
//
// Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_GPU_DEVICE_SCHEDULE_H_
#define EMBER_JIT_SCHEDULE_GPU_DEVICE_SCHEDULE_H_

#include <string_view>

#include "base/status.h"
#include "jit/backend/backend.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// Implements Backend::schedule with the model of a GPU that the target's text
// describes (jit/target/gpu_model.h).
Status ScheduleForDevice(std::string_view target,
                         const jit::ScheduleOptions& options,
                         Schedule& schedule);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_GPU_DEVICE_SCHEDULE_H_
