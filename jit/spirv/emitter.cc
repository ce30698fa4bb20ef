#include "jit/spirv/emitter.h"

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/pipeline/target_passes.h"
#include "jit/spirv/memory_model.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/phase_emitter.h"
#include "jit/spirv/target_operations.h"

namespace ember::jit::spirv {
namespace {

// Checks that the device has the number types that the module uses. Errors name
// the feature of the target string that is missing.
Status CheckTypes(const ModuleBuilder& module, const Target& target) {
  const struct {
    spv::Capability capability;
    bool has_it;
    const char* what;
  } rows[] = {
      {spv::Capability::Int64, target.i64, "64-bit integers (feature int64)"},
      {spv::Capability::Float64, target.f64, "f64 (feature f64)"},
      {spv::Capability::Float16, target.f16, "arithmetic of f16 (feature f16)"},
      {spv::Capability::Int8, target.i8, "8-bit integers (feature int8)"},
      {spv::Capability::StorageBuffer8BitAccess, target.storage8,
       "8-bit elements in memory (feature storage8)"},
      {spv::Capability::StorageBuffer16BitAccess, target.storage16,
       "16-bit elements in memory (feature storage16)"},
  };
  for (const auto& row : rows) {
    if (module.Requires(row.capability) && !row.has_it)
      return Decline(DeclineReason::kDeviceType, row.what);
  }
  return OkStatus();
}

// Emits all phases of a device nest as entry points of one module.
Status EmitPhases(loops::LoopNest& nest, const Target& target,
                  ModuleCode& code) {
  ModuleBuilder module;
  MemoryModel(target).Declare(module);
  // The push constants hold each parameter in two words, and then the number of
  // the first task in two words.
  const auto count = static_cast<uint32_t>(2 * nest.parameters.size() + 2);
  const Id words = module.Variable(spv::StorageClass::PushConstant,
                                   module.WordsType(count), "parameters");
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
  return OkStatus();
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

StatusOr<ModuleCode> EmitModule(const loops::LoopNest& given,
                                const Target& target, PassLog* log) {
  ModuleCode code;
  TargetBuild build = {.nest = given,
                       .operations = OperationsOf(target),
                       .device = &target,
                       .has_launch_limits = true,
                       .marks_integers = true};
  build.emit = [&](loops::LoopNest& nest) {
    return EmitPhases(nest, target, code);
  };
  EMBER_RETURN_IF_ERROR(RunTargetPasses(build, log));
  return code;
}

}  // namespace ember::jit::spirv
