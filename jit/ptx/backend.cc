#include "jit/ptx/backend.h"

#include <utility>

#include "jit/backend/object_compiler.h"
#include "jit/gpu/device_backend.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("sm_"); }

StatusOr<std::unique_ptr<vm::Kernel>> Build(const vm::KernelRequest& request,
                                            loops::LoopNest nest,
                                            const BuildContext& context,
                                            KernelReport& report) {
  const auto compile = [&](const loops::LoopNest& verified) {
    return context.host.CompileForDevice(
        verified, request.target,
        report.keep_code_text ? &report.code : nullptr);
  };
  return gpu::BuildDeviceKernel(request, std::move(nest), compile, report);
}

}  // namespace

const Backend kCudaBackend = {"cuda", Serves, gpu::ScheduleForDevice, Build};

}  // namespace ember::jit
