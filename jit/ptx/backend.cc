#include "jit/ptx/backend.h"

#include <memory>

#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
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
  options.keep_passes = context.KeepsPasses();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         context.compiler.Compile(nest, options));
  context.Report(*code);
  if (texts != nullptr)
    *texts = {{".ll", code->llvm}, {".ptx", code->assembly}};
  return code;
}

}  // namespace

const Backend kCudaBackend = {"cuda", Serves, schedule::ScheduleForDevice,
                              Compile};

}  // namespace ember::jit
