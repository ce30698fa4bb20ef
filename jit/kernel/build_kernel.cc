#include "jit/kernel/build_kernel.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "jit/decline_reasons.h"
#include "jit/kernel/nest_kernel.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/schedule/collapse_axes.h"
#include "jit/schedule/computation.h"
#include "jit/schedule/default_schedule.h"
#include "jit/schedule/lowering.h"
#include "jit/schedule/schedule.h"
#include "jit/schedule/split_dims.h"
#include "jit/target/cpu_model.h"

namespace ember::jit {
namespace {

class Stopwatch {
 public:
  // Milliseconds since the last call, or since construction.
  double Lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double, std::milli> lap = now - last_;
    last_ = now;
    return lap.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ =
      std::chrono::steady_clock::now();
};

const char* OriginText(CodeOrigin origin) {
  switch (origin) {
    case CodeOrigin::kCompiled:
      return "compiled";
    case CodeOrigin::kShared:
      return "shared code, made";
    case CodeOrigin::kLoaded:
      return "code from the cache, made";
  }
  return "";
}

std::string Describe(const loops::LoopNest& nest, const KernelReport& report) {
  char text[128];
  std::snprintf(text, sizeof text, "%s in %.1f ms, %zu phases, %.1f kB of code",
                OriginText(report.origin),
                report.schedule_ms + report.optimize_ms + report.codegen_ms,
                nest.phases.size(),
                static_cast<double>(report.code_bytes) / 1000);
  return text;
}

}  // namespace

StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler,
    KernelReport* report) {
  KernelReport own;
  if (report == nullptr) report = &own;
  Stopwatch stopwatch;
  schedule::Computation computation =
      schedule::Disassemble(*request.dispatch, request.parameters);
  for (size_t i = 0; i < request.constant_inputs.size(); ++i)
    computation.buffers[i].is_constant = request.constant_inputs[i];
  schedule::CollapseAxes(computation);
  schedule::SplitDims(computation);
  schedule::Schedule schedule(std::move(computation));
  EMBER_RETURN_IF_ERROR(
      report->given_schedule.empty()
          ? schedule::ScheduleByModel(CpuModel::Of(request.target), schedule)
          : schedule.Replay(report->given_schedule));
  NestKernelDefinition definition;
  EMBER_ASSIGN_OR_RETURN(definition.nest, schedule::Lower(schedule));
  if (report->keep_text) {
    report->schedule = schedule.ToText();
    report->nest = loops::ToText(definition.nest);
  }
  // Modules come from strangers: what runs has been proved to stay in bounds.
  if (Status status = loops::Verify(definition.nest); !status.ok())
    return Decline(DeclineReason::kNoProof, status.message());
  report->schedule_ms = stopwatch.Lap();
  CompileOptions options;
  options.effort = request.tier == 1 ? Effort::kFast : Effort::kFull;
  options.keep_llvm = options.keep_assembly = report->keep_code_text;
  EMBER_ASSIGN_OR_RETURN(definition.code,
                         compiler.Compile(definition.nest, options));
  report->optimize_ms = definition.code->optimize_ms;
  report->codegen_ms = definition.code->codegen_ms;
  report->code_bytes = definition.code->code_bytes;
  report->origin = definition.code->origin;
  report->llvm = definition.code->llvm;
  report->assembly = definition.code->assembly;
  definition.tier = request.tier;
  definition.parameters = request.parameters;
  definition.is_specialised = !request.parameters.empty();
  definition.constants = request.constant_data;
  definition.description = Describe(definition.nest, *report);
  stopwatch.Lap();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<NestKernel> kernel,
                         NestKernel::Create(std::move(definition)));
  report->pack_ms = stopwatch.Lap();
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

}  // namespace ember::jit
