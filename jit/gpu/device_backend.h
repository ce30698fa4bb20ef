// What rows of back ends for devices (jit/backend/backend.h) share: default
// schedules, and the way from the code that a back end made of a nest to a
// kernel on the request's device.
//
//   StatusOr<std::unique_ptr<vm::Kernel>> Build(request, nest, …, report) {
//     return gpu::BuildDeviceKernel(
//         request, std::move(nest),
//         [&](const loops::LoopNest& verified) {
//           return CompileNest(verified, Target::Of(request.target));
//         },
//         report);
//   }
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_DEVICE_BACKEND_H_
#define EMBER_JIT_GPU_DEVICE_BACKEND_H_

#include <functional>
#include <memory>
#include <string_view>

#include "base/status.h"
#include "jit/backend/backend.h"
#include "jit/backend/kernel_report.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit::gpu {

// Backend::schedule by the model of a GPU that the target's text describes
// (jit/target/gpu_model.h).
Status ScheduleForDevice(std::string_view target,
                         const ScheduleOptions& options,
                         schedule::Schedule& schedule);

// compile: called once. Errors: what it says; a request without a device; as
// DeviceKernel::Create. The report gets times and the size of the code; texts
// are left to compile.
StatusOr<std::unique_ptr<vm::Kernel>> BuildDeviceKernel(
    const vm::KernelRequest& request, loops::LoopNest nest,
    const std::function<StatusOr<DeviceCode>(const loops::LoopNest&)>& compile,
    KernelReport& report);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_BACKEND_H_
