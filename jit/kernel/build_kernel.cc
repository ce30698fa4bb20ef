#include "jit/kernel/build_kernel.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "jit/backend/decline_reasons.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/host_kernel.h"
#include "jit/backend/stopwatch.h"
#include "jit/kernel/build_nest.h"
#include "jit/loops/loop_nest.h"
#include "jit/registry/backends.h"
#include "tensor/interval.h"
#include "vm/format/native_kernels.h"
#include "vm/runtime/kernels/cpu_kernel.h"
#include "vm/runtime/kernels/device_kernel.h"

namespace ember::jit {
namespace {

// Returns the range of values of each i8 constant among the request's inputs;
// nullopt for other inputs.
std::vector<std::optional<tensor::Interval>> RangesOf(
    const vm::KernelRequest& request, KeptConstants& kept) {
  std::vector<std::optional<tensor::Interval>> ranges(
      request.constant_inputs.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (request.constant_inputs[i] &&
        request.dispatch->buffers[i].type == DType::kI8)
      ranges[i] = kept.RangeOf(request, i);
  }
  return ranges;
}

// Builds the nest, and adds its texts to the report. stores: as in BuildKernel.
StatusOr<loops::LoopNest> BuildReportedNest(const vm::KernelRequest& request,
                                            const KernelOptions& options,
                                            PassLog& log, KernelStores* stores,
                                            KernelReport& report) {
  NestOptions nest_options = {
      .given_schedule = options.given_schedule,
      .has_canonical_names = options.has_canonical_names,
      .is_exact = options.is_exact,
      .log = &log};
  if (stores != nullptr) nest_options.ranges = RangesOf(request, stores->kept);
  const bool has_own_names =
      !options.given_schedule.empty() && !options.has_canonical_names;
  if (stores != nullptr && !options.keeps_text && !has_own_names &&
      options.disabled_passes.empty())
    return stores->nests.Build(request, nest_options, &report.error_growth);
  NestText text;
  StatusOr<loops::LoopNest> nest =
      BuildNest(request, nest_options, options.keeps_text ? &text : nullptr,
                &report.error_growth);
  report.schedule = std::move(text.schedule);
  report.nest = std::move(text.nest);
  return nest;
}

// Makes a kernel that uses the constants in `packed` instead of packing its
// own.
StatusOr<std::unique_ptr<vm::CpuKernel>> CreateWith(
    vm::CpuKernelDefinition definition, PackedBuffers packed) {
  definition.packed = std::move(packed.contents);
  definition.packed_owner = std::move(packed.owner);
  return vm::CpuKernel::Create(std::move(definition));
}

// Makes the kernel with the packed constants of the file. If there is no such
// file, makes the kernel and keeps its packed constants in the file. The packed
// constants are then mapped pages of the file, which the system can drop if
// memory is short.
StatusOr<std::unique_ptr<vm::CpuKernel>> CreateKept(
    const vm::CpuKernelDefinition& definition, const std::string& path) {
  std::optional<PackedBuffers> packed = KeptConstants::Load(path);
  if (packed) {
    auto kernel = CreateWith(definition, *std::move(packed));
    // If the file's contents have other sizes than the kernel needs, making the
    // kernel fails and the file is replaced.
    if (kernel.ok()) return kernel;
  }
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::CpuKernel> kernel,
                         vm::CpuKernel::Create(definition));
  packed = KeptConstants::Keep(path, kernel->packed());
  if (!packed) return kernel;
  auto mapped = CreateWith(definition, *std::move(packed));
  if (mapped.ok()) kernel = *std::move(mapped);
  return kernel;
}

// Makes the kernel of the definition, whose code was made of `nest`. stores: as
// in BuildKernel.
StatusOr<std::unique_ptr<vm::Kernel>> LaunchOnHost(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    vm::CpuKernelDefinition definition, KernelStores* stores) {
  const std::string key = stores == nullptr ? "" : PackingKey(request, nest);
  if (key.empty()) {
    EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::CpuKernel> kernel,
                           vm::CpuKernel::Create(std::move(definition)));
    return std::unique_ptr<vm::Kernel>(std::move(kernel));
  }
  if (std::optional<PackedBuffers> packed = stores->packed.Find(key)) {
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<vm::CpuKernel> kernel,
        CreateWith(std::move(definition), *std::move(packed)));
    return std::unique_ptr<vm::Kernel>(std::move(kernel));
  }
  const bool may_keep = vm::MayBePackedBefore(definition.image);
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::CpuKernel> kernel,
      CreateKept(definition,
                 may_keep ? stores->kept.PathOf(request, nest) : ""));
  stores->packed.Add(key, {kernel->packed(), kernel->packed_owner()});
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

// Loads the image on the request's device. `loading` gets the milliseconds that
// loading the code took, and `packing` the milliseconds that packing the
// constants took.
StatusOr<std::unique_ptr<vm::Kernel>> LaunchOnDevice(
    const vm::KernelRequest& request, vm::KernelImage image,
    std::string description, double& loading, double& packing) {
  Stopwatch stopwatch;
  for (const vm::DevicePhase& phase : image.code.device) {
    description += Concat({"; ", phase.entry_point, ": ", phase.invocations,
                           " invocations, ", phase.tasks_per_workgroup,
                           " tasks of a workgroup"});
  }
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<vm::DeviceKernel> kernel,
      vm::DeviceKernel::Create({.image = std::move(image),
                                .device = request.device,
                                .constants = request.constant_data,
                                .description = std::move(description)}));
  packing = kernel->pack_ms();
  loading += stopwatch.Lap() - packing;
  return std::unique_ptr<vm::Kernel>(std::move(kernel));
}

// Builds the kernel. `log` holds the options with which passes run, and gets
// the passes that ran.
StatusOr<std::unique_ptr<vm::Kernel>> BuildLogged(
    const vm::KernelRequest& request, Compiler& compiler,
    const KernelOptions& options, PassLog& log, KernelReport* report,
    KernelStores* stores) {
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(
      const loops::LoopNest nest,
      BuildReportedNest(request, options, log, stores, *report));
  report->schedule_ms = stopwatch.Lap();
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<CompiledNest> code,
      BackendFor(request.target)
          .compile(request, nest, {.compiler = compiler, .log = &log},
                   options.keeps_code_text ? &report->code : nullptr));
  report->optimize_ms = code->optimize_ms;
  report->codegen_ms = code->codegen_ms;
  report->code_bytes = code->code_bytes;
  report->origin = code->origin;
  vm::KernelImage image =
      ImageOf(request, nest, report->error_growth, code->code);
  const bool is_machine_code = image.code.is_machine_code();
  if (!is_machine_code && request.device == nullptr) {
    return Decline(DeclineReason::kTarget,
                   "expected a device to make it on, found none");
  }
  std::string description = Summary(*report, nest.phases.size());
  if (!is_machine_code) {
    return LaunchOnDevice(request, std::move(image), std::move(description),
                          report->codegen_ms, report->pack_ms);
  }
  stopwatch.Lap();
  StatusOr<std::unique_ptr<vm::Kernel>> kernel =
      LaunchOnHost(request, nest,
                   DefineKernel(std::move(image), std::move(code),
                                request.constant_data, std::move(description)),
                   stores);
  report->pack_ms = stopwatch.Lap();
  return kernel;
}

}  // namespace

StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler,
    const KernelOptions& options, KernelReport* report, KernelStores* stores) {
  KernelReport own;
  if (report == nullptr) report = &own;
  PassLog log = {.options = {.keeps_texts = options.keeps_text,
                             .verifies = options.keeps_text,
                             .disabled = options.disabled_passes}};
  auto kernel = BuildLogged(request, compiler, options, log, report, stores);
  report->passes = std::move(log.records);
  return kernel;
}

}  // namespace ember::jit
