// Compiles loop nests to SPIR-V modules.
//
//   EMBER_ASSIGN_OR_RETURN(ModuleCode code, EmitModule(nest, target));
//   device->LoadExecutable({.format = "spirv", .code = …,
//                           .entry_point = code.phases[0].entry_point, …});
//
// Code generation decides nothing: the nest says which loops are of
// invocations, of vectors or unrolled. Thread-safe.
#ifndef EMBER_JIT_SPIRV_EMITTER_H_
#define EMBER_JIT_SPIRV_EMITTER_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

// The module of a nest, with an entry point for each phase.
struct ModuleCode {
  std::vector<uint32_t> words;
  std::vector<gpu::PhaseCode> prologue;
  std::vector<gpu::PhaseCode> phases;

  gpu::DeviceCode ForDevice() const;
};

// Returns the nest that EmitModule emits: legalised for the target, as a device
// nest. Errors: those of gpu::MakeDeviceNest.
StatusOr<loops::LoopNest> DeviceNestOf(const loops::LoopNest& nest,
                                       const Target& target);

// Compiles the nest, which must be verified. Returns kUnimplemented with a
// reason of jit/backend/decline_reasons.h if this back end does not support the
// nest.
StatusOr<ModuleCode> EmitModule(const loops::LoopNest& nest,
                                const Target& target);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_EMITTER_H_
