#include "jit/llvm/backend.h"

#include <memory>

#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/target/cpu_model.h"

namespace ember::jit::llvm_ir {
namespace {

bool Serves(std::string_view) { return true; }

Status Schedule(std::string_view target, const ScheduleOptions& options,
                schedule::Schedule& schedule) {
  return schedule::ScheduleByModel(
      options.cpu != nullptr ? *options.cpu : CpuModel::Of(target), schedule,
      {.exact = options.is_exact});
}

StatusOr<std::unique_ptr<CompiledNest>> Compile(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    const BuildContext& context, std::vector<CodeText>* texts) {
  CompileOptions options;
  options.effort = request.tier == 1 ? Effort::kFast : Effort::kFull;
  options.keep_llvm = options.keep_assembly = texts != nullptr;
  options.keep_passes = context.KeepsPasses();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         context.compiler.Compile(nest, options));
  context.Report(*code);
  if (texts != nullptr) *texts = {{".ll", code->llvm}, {".s", code->assembly}};
  return code;
}

}  // namespace

const Backend kCpuBackend = {"cpu", Serves, Schedule, Compile};

}  // namespace ember::jit::llvm_ir
