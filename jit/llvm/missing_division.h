// Divisions of integers that a machine has no instruction for: those of 64 bits
// on one of 32 bits, or all. Part of missing_instructions.h.
#ifndef EMBER_JIT_LLVM_MISSING_DIVISION_H_
#define EMBER_JIT_LLVM_MISSING_DIVISION_H_

#include "jit/llvm/ir.h"
#include "llvm/IR/Module.h"

namespace ember::jit {

// By a function of the module that divides numbers without a sign, a bit at a
// time; those of 64 bits that have only 32 are divided as such.
void ExpandMissingDivisions(const TargetTraits& target, llvm::Module& module);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_MISSING_DIVISION_H_
