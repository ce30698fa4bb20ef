#include "jit/spirv/backend.h"

#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/gpu/device_backend.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/tools.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("vulkan"); }

// The module as text, behind what is known of its entry points.
StatusOr<std::string> TextOf(const spirv::ModuleCode& module) {
  std::string text;
  for (const auto* phases : {&module.prologue, &module.phases}) {
    for (const gpu::PhaseCode& phase : *phases)
      text += "; " + phase.Figures() + "\n";
  }
  text += spirv::DisassembleModule(module.words);
  const Status valid = spirv::ValidateModule(module.words);
  if (valid.code() == StatusCode::kUnimplemented) {
    text += Concat({"; not validated: ", valid.message(), "\n"});
  } else {
    EMBER_RETURN_IF_ERROR(valid);
  }
  return text;
}

StatusOr<std::unique_ptr<vm::Kernel>> Build(const vm::KernelRequest& request,
                                            loops::LoopNest nest,
                                            const BuildContext&,
                                            KernelReport& report) {
  const auto compile =
      [&](const loops::LoopNest& verified) -> StatusOr<gpu::DeviceCode> {
    EMBER_ASSIGN_OR_RETURN(
        const spirv::ModuleCode module,
        spirv::EmitModule(verified, spirv::Target::Of(request.target)));
    if (report.keep_code_text) {
      EMBER_ASSIGN_OR_RETURN(std::string text, TextOf(module));
      report.code = {{".spvasm", std::move(text)}};
    }
    return module.ForDevice();
  };
  return gpu::BuildDeviceKernel(request, std::move(nest), compile, report);
}

}  // namespace

const Backend kVulkanBackend = {"vulkan", Serves, gpu::ScheduleForDevice,
                                Build};

}  // namespace ember::jit
