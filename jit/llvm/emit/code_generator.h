// Compiles loop nests to LLVM IR. Each phase is a function according to
// vm/format/kernel_abi.h, named "prologue0", "prologue1", ..., "phase0", ...
//
//   EMBER_RETURN_IF_ERROR(GenerateCode(nest, traits, module));
//
// The functions have no target attributes yet; Optimize
// (jit/llvm/passes/pipeline.h) adds them. Thread-compatible.
#ifndef EMBER_JIT_LLVM_EMIT_CODE_GENERATOR_H_
#define EMBER_JIT_LLVM_EMIT_CODE_GENERATOR_H_

#include <string>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

std::string PhaseName(bool is_prologue, size_t number);

// Adds a function for each phase to the module. The nest must be verified, and
// the module must have the target's data layout. log: if it is not null, gets
// the passes that ran. Errors are those of Compiler::Compile.
Status GenerateCode(const loops::LoopNest& nest, TargetTraits target,
                    llvm::Module& module, PassLog* log = nullptr);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_CODE_GENERATOR_H_
