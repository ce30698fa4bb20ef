// Operations on values of 64 bits, divisions and signs of f16 that a machine
// has no instructions for, and that LLVM would call a library for: kernels call
// none (vm/format/kernel_abi.h). They are written as operations that the
// machine has, with the same results bit for bit. Others legalisation has
// written so before (jit/legalise).
//
//   Optimize(...);
//   ExpandMissingInstructions(host.traits, module);
//
// Behind LLVM's passes, as these would make of the longer forms what they were.
#ifndef EMBER_JIT_LLVM_MISSING_INSTRUCTIONS_H_
#define EMBER_JIT_LLVM_MISSING_INSTRUCTIONS_H_

#include "jit/llvm/ir.h"
#include "llvm/IR/Module.h"

namespace ember::jit {

// Functions that are added have no attributes of a target.
void ExpandMissingInstructions(const TargetTraits& target,
                               llvm::Module& module);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_MISSING_INSTRUCTIONS_H_
