#include "jit/ptx/backend.h"

#include <memory>

#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/gpu/device_passes.h"
#include "jit/loops/text/text.h"
#include "jit/ptx/target.h"
#include "jit/schedule/gpu/device_schedule.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("sm_"); }

StatusOr<std::unique_ptr<CompiledNest>> Compile(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    const BuildContext& context, std::vector<CodeText>* texts) {
  CompileOptions options;
  options.target = request.target;
  options.keep_llvm = options.keep_assembly = texts != nullptr;
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         context.compiler.Compile(nest, options));
  if (texts != nullptr) {
    // The expressions are those from before legalisation.
    loops::LoopNest device_nest = nest;
    EMBER_RETURN_IF_ERROR(
        gpu::MakeDeviceNest(ptx::Target::Of(request.target), device_nest));
    *texts = {{".device.loops", loops::ToText(device_nest)},
              {".ll", code->llvm},
              {".ptx", code->assembly}};
  }
  return code;
}

}  // namespace

const Backend kCudaBackend = {"cuda", Serves, schedule::ScheduleForDevice,
                              Compile};

}  // namespace ember::jit
