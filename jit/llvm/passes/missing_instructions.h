// Expands operations on 64-bit values, divisions and signs of f16 that a
// machine has no instructions for. LLVM would call a library for them, which
// kernels must not do (vm/format/kernel_abi.h). The operations are replaced by
// others that the machine has, with the same results bit for bit. Legalisation
// (jit/legalise) has already replaced other missing operations in the nest.
//
//   Optimize(...);
//   ExpandMissingInstructions(host.traits, module);
//
// This runs after LLVM's passes, which would restore the shorter forms.
#ifndef EMBER_JIT_LLVM_PASSES_MISSING_INSTRUCTIONS_H_
#define EMBER_JIT_LLVM_PASSES_MISSING_INSTRUCTIONS_H_

#include "jit/llvm/emit/ir.h"
#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Replaces the missing operations in the module. The functions that it adds
// have no target attributes yet.
void ExpandMissingInstructions(const TargetTraits& target,
                               llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_MISSING_INSTRUCTIONS_H_
