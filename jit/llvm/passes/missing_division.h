// Expands divisions of integers that a machine has no instruction for: those of
// 64 bits on a 32-bit machine, or all. ExpandMissingInstructions
// (missing_instructions.h) calls it.
#ifndef EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_
#define EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_

#include "jit/llvm/emit/ir.h"
#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Replaces the divisions by calls of a function that it adds to the module. The
// function divides unsigned numbers bit by bit. 64-bit numbers that fit 32 bits
// are divided as 32-bit numbers.
void ExpandMissingDivisions(const TargetTraits& target, llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_MISSING_DIVISION_H_
