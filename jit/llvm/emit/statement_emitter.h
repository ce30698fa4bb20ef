// Emits the statements of one phase as the body of its function.
#ifndef EMBER_JIT_LLVM_EMIT_STATEMENT_EMITTER_H_
#define EMBER_JIT_LLVM_EMIT_STATEMENT_EMITTER_H_

#include "base/status.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

// Emits the phase. function: a function in the form of vm::PhaseFunction,
// without a body. Errors: reasons to decline, and instructions that should have
// been expanded.
Status EmitPhase(const loops::LoopNest& nest, const loops::Phase& phase,
                 bool is_prologue, TargetTraits target,
                 llvm::Function& function);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_STATEMENT_EMITTER_H_
