// Compiles loop nests to SPIR-V modules.
//
//   EMBER_ASSIGN_OR_RETURN(ModuleCode code, EmitModule(nest, target));
//   device->LoadExecutable({.format = "spirv", .code = …,
//                           .entry_point = code.phases[0].entry_point, …});
//
// Code generation decides nothing: the nest says which loops run as invocations
// or vectors and which are unrolled. Thread-safe.
#ifndef EMBER_JIT_SPIRV_EMITTER_H_
#define EMBER_JIT_SPIRV_EMITTER_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "jit/backend/pass_log.h"
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

// Compiles the nest, which must be verified, to a module. `log`: if it is not
// null, gets the passes that ran. Returns kUnimplemented with a reason of
// jit/backend/decline_reasons.h if this back end does not support the nest.
StatusOr<ModuleCode> EmitModule(const loops::LoopNest& nest,
                                const Target& target, PassLog* log = nullptr);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_EMITTER_H_
