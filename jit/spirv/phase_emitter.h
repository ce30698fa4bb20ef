// Emits the statements of one phase as an entry point of a module.
#ifndef EMBER_JIT_SPIRV_PHASE_EMITTER_H_
#define EMBER_JIT_SPIRV_PHASE_EMITTER_H_

#include <string>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/module_builder.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

// Emits a phase of a device nest (jit/gpu/device_passes.h). Nodes are added to
// the nest's pool. `words`: id of the variable with the push constants. Errors:
// reasons to decline the nest, and kInternal for instructions that should have
// been expanded.
StatusOr<gpu::PhaseCode> EmitPhase(loops::LoopNest& nest,
                                   const loops::Phase& phase,
                                   std::string entry_point,
                                   const Target& target, Id words,
                                   ModuleBuilder& module);

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_PHASE_EMITTER_H_
