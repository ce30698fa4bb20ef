#include "jit/llvm/backend.h"

#include <utility>

#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/backend/stopwatch.h"
#include "jit/schedule/cpu/default_schedule.h"
#include "jit/target/cpu_model.h"
#include "vm/runtime/cpu_kernel.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view) { return true; }

Status Schedule(std::string_view target, const ScheduleOptions& options,
                schedule::Schedule& schedule) {
  return schedule::ScheduleByModel(
      options.cpu != nullptr ? *options.cpu : CpuModel::Of(target), schedule,
      {.exact = options.is_exact});
}

StatusOr<std::unique_ptr<vm::Kernel>> Build(const vm::KernelRequest& request,
                                            loops::LoopNest nest,
                                            const BuildContext& context,
                                            KernelReport& report) {
  CompileOptions options;
  options.effort = request.tier == 1 ? Effort::kFast : Effort::kFull;
  options.keep_llvm = options.keep_assembly = report.keep_code_text;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<CompiledNest> code,
                         context.host.Compile(nest, options));
  report.optimize_ms = code->optimize_ms;
  report.codegen_ms = code->codegen_ms;
  report.code_bytes = code->code_bytes;
  report.origin = code->origin;
  if (report.keep_code_text)
    report.code = {{".ll", code->llvm}, {".s", code->assembly}};
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::CpuKernel> kernel,
      vm::CpuKernel::Create(DefineKernel(
          DescribeKernel(request, nest, report.error_growth), *code,
          request.constant_data, Summary(report, nest.phases.size()))));
  report.pack_ms = stopwatch.Lap();
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

}  // namespace

const Backend kCpuBackend = {"cpu", Serves, Schedule, Build};

}  // namespace ember::jit
