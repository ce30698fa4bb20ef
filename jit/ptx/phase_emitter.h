// Emits a phase of a nest as LLVM IR of a kernel for NVPTX, which is called as
// jit/gpu/kernel_abi.h says.
//
//   EMBER_ASSIGN_OR_RETURN(gpu::PhaseCode code,
//                          EmitPhase(nest, phase, false, "phase0", target,
//                                    module));
//
// The kernel's arguments have 8 bytes each: pointers of bindings, then
// parameters. The workgroup's memory is dynamic shared memory, whose size is
// PhaseCode::dynamic_shared_bytes.
#ifndef EMBER_JIT_PTX_PHASE_EMITTER_H_
#define EMBER_JIT_PTX_PHASE_EMITTER_H_

#include <string>

#include "base/status.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"
#include "jit/ptx/target.h"
#include "llvm/IR/Module.h"

namespace ember::jit::ptx {

// Name of the variable for dynamic shared memory that all kernels of a module
// declare.
inline constexpr char kSharedName[] = "shared";

// Returns the device's properties on which the emitters of jit/llvm/emit
// depend.
llvm_ir::TargetTraits TraitsOf(const Target& target);

// Emits a phase. The nest must be legal for these traits (jit/legalise), and
// the module must have NVPTX's data layout. Returns kUnimplemented with a
// reason of jit/backend/decline_reasons.h if this back end does not support the
// phase.
StatusOr<gpu::PhaseCode> EmitPhase(const loops::LoopNest& nest,
                                   const loops::Phase& phase, bool is_prologue,
                                   const std::string& name,
                                   const Target& target, llvm::Module& module);

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_PHASE_EMITTER_H_
