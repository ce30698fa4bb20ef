#include "jit/gpu/device_backend.h"

#include <utility>
#include <vector>

#include "base/dtype.h"
#include "jit/backend/stopwatch.h"
#include "jit/decline_reasons.h"
#include "jit/gpu/device_kernel.h"
#include "jit/loops/matrix_operation.h"
#include "jit/schedule/gpu/gpu_schedule.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::gpu {

Status ScheduleForDevice(std::string_view target,
                         const ScheduleOptions& options,
                         schedule::Schedule& schedule) {
  GpuModel gpu = GpuModel::Of(target);
  // Sums of matrices of floats are rounded as the device likes.
  if (options.is_exact) {
    std::erase_if(gpu.matrices, [](const loops::MatrixType& type) {
      return IsFloat(type.sum);
    });
  }
  return schedule::ScheduleForGpu(gpu, schedule);
}

StatusOr<std::unique_ptr<vm::Kernel>> BuildDeviceKernel(
    const vm::KernelRequest& request, loops::LoopNest nest,
    const std::function<StatusOr<DeviceCode>(const loops::LoopNest&)>& compile,
    KernelReport& report) {
  if (request.device == nullptr) {
    return Decline(DeclineReason::kTarget,
                   "expected a device to make it on, found none");
  }
  DeviceKernelDefinition definition;
  definition.nest = std::move(nest);
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(definition.code, compile(definition.nest));
  report.codegen_ms = stopwatch.Lap();
  report.code_bytes = static_cast<int64_t>(definition.code.code.size());
  definition.tier = request.tier;
  definition.parameters = request.parameters;
  definition.is_specialised = !request.parameters.empty();
  definition.device = request.device;
  definition.constants = request.constant_data;
  definition.description = Summary(report, definition.nest.phases.size());
  for (const PhaseCode& phase : definition.code.phases)
    definition.description += "; " + phase.Figures();
  stopwatch.Lap();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernel> kernel,
                         DeviceKernel::Create(std::move(definition)));
  report.pack_ms = kernel->pack_ms();
  report.codegen_ms += stopwatch.Lap() - report.pack_ms;
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

}  // namespace ember::jit::gpu
