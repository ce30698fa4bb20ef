// Expands divisions of integers that a machine has no instruction for: those of
// 64 bits on a 32-bit machine, or all. Part of missing_instructions.h.
#ifndef EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_
#define EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_

#include "jit/llvm/emit/ir.h"
#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Replaces the divisions by calls of a function in the module that divides
// numbers without a sign, a bit at a time. Numbers of 64 bits that fit in 32
// are divided as numbers of 32 bits.
void ExpandMissingDivisions(const TargetTraits& target, llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_
