#include "jit/ptx/backend.h"

#include <utility>

#include "jit/gpu/device_backend.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("sm_"); }

StatusOr<std::unique_ptr<vm::Kernel>> Build(const vm::KernelRequest& request,
                                            loops::LoopNest nest,
                                            const BuildContext&,
                                            KernelReport& report) {
  const auto compile =
      [&](const loops::LoopNest& verified) -> StatusOr<gpu::DeviceCode> {
    ptx::CodeTexts texts;
    EMBER_ASSIGN_OR_RETURN(
        gpu::DeviceCode code,
        ptx::CompileNest(verified, ptx::Target::Of(request.target),
                         report.keep_code_text ? &texts : nullptr));
    if (report.keep_code_text) {
      report.code = {{".ll", std::move(texts.llvm)},
                     {".ptx", std::move(texts.ptx)}};
    }
    return code;
  };
  return gpu::BuildDeviceKernel(request, std::move(nest), compile, report);
}

}  // namespace

const Backend kCudaBackend = {"cuda", Serves, gpu::ScheduleForDevice, Build};

}  // namespace ember::jit
