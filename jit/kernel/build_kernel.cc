#include "jit/kernel/build_kernel.h"

#include <chrono>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/kernel/build_nest.h"
#include "jit/kernel/device_kernel.h"
#include "jit/kernel/host_kernel.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/tools.h"

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

// As the report asks for, with its texts.
StatusOr<loops::LoopNest> BuildReportedNest(const vm::KernelRequest& request,
                                            KernelReport& report) {
  NestText text;
  StatusOr<loops::LoopNest> nest = BuildNest(
      request,
      {.given_schedule = report.given_schedule, .is_exact = report.is_exact},
      report.keep_text ? &text : nullptr, &report.error_growth);
  report.schedule = std::move(text.schedule);
  report.nest = std::move(text.nest);
  return nest;
}

StatusOr<std::unique_ptr<vm::Kernel>> BuildHostKernel(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    Compiler& compiler, KernelReport& report) {
  CompileOptions options;
  options.effort = request.tier == 1 ? Effort::kFast : Effort::kFull;
  options.keep_llvm = options.keep_assembly = report.keep_code_text;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<CompiledNest> code,
                         compiler.Compile(nest, options));
  report.optimize_ms = code->optimize_ms;
  report.codegen_ms = code->codegen_ms;
  report.code_bytes = code->code_bytes;
  report.origin = code->origin;
  report.llvm = code->llvm;
  report.assembly = code->assembly;
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::CpuKernel> kernel,
      vm::CpuKernel::Create(
          DefineKernel(DescribeKernel(request, nest, report.error_growth),
                       *code, request.constant_data, Describe(nest, report))));
  report.pack_ms = stopwatch.Lap();
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

StatusOr<gpu::DeviceCode> SpirvOf(const loops::LoopNest& nest,
                                  std::string_view target,
                                  KernelReport& report) {
  EMBER_ASSIGN_OR_RETURN(const spirv::ModuleCode module,
                         spirv::EmitModule(nest, spirv::Target::Of(target)));
  if (!report.keep_code_text) return module.ForDevice();
  for (const auto* phases : {&module.prologue, &module.phases}) {
    for (const gpu::PhaseCode& phase : *phases)
      report.spirv += "; " + phase.Figures() + "\n";
  }
  report.spirv += spirv::DisassembleModule(module.words);
  const Status valid = spirv::ValidateModule(module.words);
  if (valid.code() == StatusCode::kUnimplemented) {
    report.spirv += Concat({"; not validated: ", valid.message(), "\n"});
  } else {
    EMBER_RETURN_IF_ERROR(valid);
  }
  return module.ForDevice();
}

StatusOr<gpu::DeviceCode> PtxOf(const loops::LoopNest& nest,
                                std::string_view target, KernelReport& report) {
  ptx::CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(
      gpu::DeviceCode code,
      ptx::CompileNest(nest, ptx::Target::Of(target),
                       report.keep_code_text ? &texts : nullptr));
  report.llvm = std::move(texts.llvm);
  report.ptx = std::move(texts.ptx);
  return code;
}

StatusOr<std::unique_ptr<vm::Kernel>> BuildDeviceKernel(
    const vm::KernelRequest& request, loops::LoopNest nest,
    KernelReport& report) {
  if (request.device == nullptr) {
    return Decline(DeclineReason::kTarget,
                   "expected a device to make it on, found none");
  }
  DeviceKernelDefinition definition;
  definition.nest = std::move(nest);
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(
      definition.code, ptx::IsPtxTarget(request.target)
                           ? PtxOf(definition.nest, request.target, report)
                           : SpirvOf(definition.nest, request.target, report));
  report.codegen_ms = stopwatch.Lap();
  report.code_bytes = static_cast<int64_t>(definition.code.code.size());
  definition.tier = request.tier;
  definition.parameters = request.parameters;
  definition.is_specialised = !request.parameters.empty();
  definition.device = request.device;
  definition.constants = request.constant_data;
  definition.description = Describe(definition.nest, report);
  for (const gpu::PhaseCode& phase : definition.code.phases)
    definition.description += "; " + phase.Figures();
  stopwatch.Lap();
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<DeviceKernel> kernel,
                         DeviceKernel::Create(std::move(definition)));
  report.pack_ms = kernel->pack_ms();
  report.codegen_ms += stopwatch.Lap() - report.pack_ms;
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

}  // namespace

StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler,
    KernelReport* report) {
  KernelReport own;
  if (report == nullptr) report = &own;
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest,
                         BuildReportedNest(request, *report));
  report->schedule_ms = stopwatch.Lap();
  if (spirv::IsSpirvTarget(request.target) || ptx::IsPtxTarget(request.target))
    return BuildDeviceKernel(request, std::move(nest), *report);
  return BuildHostKernel(request, nest, compiler, *report);
}

}  // namespace ember::jit
