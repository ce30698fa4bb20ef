#include "jit/spirv/emitter.h"

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/gpu/device_passes.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/legalise/legalise.h"
#include "jit/loops/analysis/facts.h"
#include "jit/spirv/memory_model.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/phase_emitter.h"
#include "jit/spirv/target_operations.h"

namespace ember::jit::spirv {
namespace {

// Checks that the device has the types that the module uses.
Status CheckTypes(const ModuleBuilder& module, const Target& target) {
  const struct {
    spv::Capability capability;
    bool has_it;
    const char* what;
  } rows[] = {
      {spv::Capability::Int64, target.i64, "64-bit integers"},
      {spv::Capability::Float64, target.f64, "f64"},
      {spv::Capability::Float16, target.f16, "arithmetic of f16"},
      {spv::Capability::Int8, target.i8, "8-bit integers"},
      {spv::Capability::StorageBuffer8BitAccess, target.storage8,
       "8-bit elements in memory"},
      {spv::Capability::StorageBuffer16BitAccess, target.storage16,
       "16-bit elements in memory"},
  };
  for (const auto& row : rows) {
    if (module.Requires(row.capability) && !row.has_it)
      return Decline(DeclineReason::kDeviceType, row.what);
  }
  return OkStatus();
}

// Legalises the nest for the device, with the facts about extents and numbers
// of tasks that hold on it.
void LegaliseFor(const Target& target, loops::LoopNest& nest) {
  loops::Facts facts(
      nest, {.extent = gpu::kMaxExtent, .elements = gpu::kMaxElements});
  for (const auto* phases : {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases)
      facts.AssumeRange(phase.task, {0, gpu::kMaxExtent - 1});
  }
  legalise::Legalise(OperationsOf(target), nest,
                     [&](tensor::NodeId id) { return facts.RangeOf(id); });
}

}  // namespace

gpu::DeviceCode ModuleCode::ForDevice() const {
  const auto* const bytes = reinterpret_cast<const uint8_t*>(words.data());
  return {.format = "spirv",
          .code = {bytes, bytes + words.size() * sizeof(uint32_t)},
          .prologue = prologue,
          .phases = phases,
          .resources = nullptr};
}

StatusOr<loops::LoopNest> DeviceNestOf(const loops::LoopNest& nest,
                                       const Target& target) {
  loops::LoopNest result = nest;
  LegaliseFor(target, result);
  EMBER_RETURN_IF_ERROR(gpu::MakeDeviceNest(target, result));
  return result;
}

StatusOr<ModuleCode> EmitModule(const loops::LoopNest& given,
                                const Target& target) {
  EMBER_ASSIGN_OR_RETURN(loops::LoopNest nest, DeviceNestOf(given, target));
  ModuleBuilder module;
  MemoryModel(target).Declare(module);
  // The push constants are the parameters, in two words each, and the number of
  // the first task in the last two words.
  const auto count = static_cast<uint32_t>(2 * nest.parameters.size() + 2);
  const Id words = module.Variable(spv::StorageClass::PushConstant,
                                   module.WordsType(count), "parameters");
  ModuleCode code;
  const auto emit = [&](const std::vector<loops::Phase>& phases,
                        const char* name,
                        std::vector<gpu::PhaseCode>& result) -> Status {
    for (size_t i = 0; i < phases.size(); ++i) {
      auto phase =
          EmitPhase(nest, phases[i], Concat({name, i}), target, words, module);
      if (!phase.ok())
        return phase.status().WithContext(Concat({"loops @", nest.name}));
      result.push_back(*std::move(phase));
    }
    return OkStatus();
  };
  EMBER_RETURN_IF_ERROR(emit(nest.prologue, "prologue", code.prologue));
  EMBER_RETURN_IF_ERROR(emit(nest.phases, "phase", code.phases));
  EMBER_RETURN_IF_ERROR(CheckTypes(module, target));
  code.words = module.Finish();
  return code;
}

}  // namespace ember::jit::spirv
