#include "hal/metal/executable.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/rounding.h"
#include "hal/executable_checks.h"

namespace ember::hal::metal {
namespace {

constexpr std::string_view kFormat = "msl";

Status CheckShape(const DeviceProperties& device,
                  const ExecutableDefinition& definition) {
  for (size_t i = 0; i < definition.workgroup.size(); ++i) {
    const int64_t size = definition.workgroup[i];
    if (size < 1 || size > device.workgroup[i]) {
      return ResourceExhaustedError(Concat(
          {"expected 1 to ", device.workgroup[i], " invocations in dimension ",
           i, " of a workgroup, found ", size}));
    }
  }
  if (definition.shared_bytes >= 0 &&
      definition.shared_bytes <= device.shared_bytes)
    return OkStatus();
  return ResourceExhaustedError(Concat(
      {"expected 0 to ", device.shared_bytes,
       " bytes of a workgroup's memory, found ", definition.shared_bytes}));
}

}  // namespace

// A kernel may declare threadgroup memory that it does not use, and Metal then
// wants a size for it, too.
MetalExecutable::MetalExecutable(const ExecutableDefinition& definition)
    : Executable(definition),
      shared_bytes_(RoundUp(
          std::max<uint64_t>(static_cast<uint64_t>(definition.shared_bytes), 1),
          kThreadgroupMemoryAlignment)) {
  std::ranges::transform(
      definition.workgroup, workgroup_.begin(),
      [](int64_t size) { return static_cast<uint64_t>(size); });
}

Status MetalExecutable::CheckPipeline(const Context& context) const {
  const PipelineFacts facts = context.metal().PipelineFactsOf(pipeline());
  // A workgroup of this kernel may be smaller than the device's limit, because
  // of the registers that the code uses.
  const uint64_t invocations = workgroup_[0] * workgroup_[1] * workgroup_[2];
  if (invocations > facts.max_threads) {
    return ResourceExhaustedError(Concat(
        {"expected at most ", facts.max_threads,
         " invocations in a workgroup of this code, found ", invocations}));
  }
  const auto limit = static_cast<uint64_t>(context.properties().shared_bytes);
  const uint64_t shared = facts.threadgroup_bytes + shared_bytes();
  if (shared <= limit) return OkStatus();
  return ResourceExhaustedError(
      Concat({"expected at most ", limit,
              " bytes of a workgroup's memory, found ", shared}));
}

StatusOr<std::unique_ptr<MetalExecutable>> MetalExecutable::Load(
    const Context& context, Programs& programs, const DeviceLimits& limits,
    const ExecutableDefinition& definition) {
  const std::string name = Concat({"executable '", definition.name, "'"});
  if (definition.format != kFormat) {
    return UnimplementedError(
        Concat({"metal device: ", name, ": expected format '", kFormat,
                "', found '", definition.format, "'"}));
  }
  Status status = CheckCounts(limits, definition);
  if (status.ok()) status = CheckShape(context.properties(), definition);
  if (!status.ok()) return status.WithContext(name);
  StatusOr<std::shared_ptr<Program>> program =
      programs.Load({reinterpret_cast<const char*>(definition.code.data()),
                     definition.code.size()});
  if (!program.ok()) return program.status().WithContext(name);
  std::unique_ptr<MetalExecutable> executable(new MetalExecutable(definition));
  executable->program_ = *std::move(program);
  StatusOr<Owned<PipelineRef>> pipeline = context.MakePipeline(
      executable->program_->get(), definition.entry_point.c_str());
  status = pipeline.status();
  if (status.ok()) {
    executable->pipeline_ = *std::move(pipeline);
    status = executable->CheckPipeline(context);
  }
  if (!status.ok()) {
    return status.WithContext(
        Concat({name, ": entry point '", definition.entry_point, "'"}));
  }
  return executable;
}

}  // namespace ember::hal::metal
