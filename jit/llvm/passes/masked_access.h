// Makes masked loads and stores safe for LLVM 19 on x86 with AVX but without
// AVX-512.
//
// There LLVM splits a mask of which some lanes are known, and may mistake a
// part for a mask with all lanes set; the code then reads lanes that must not
// be read. So this pass replaces these accesses by the machine's instructions,
// one for each register. It runs after all passes that interpret masks.
#ifndef EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_
#define EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Replaces the module's masked accesses of elements of 32 and 64 bits; LLVM
// emits branches for other elements. Vectors have a power of two of lanes.
// `has_avx2`: true if the machine has masked accesses of integers, too.
void LowerMaskedAccesses(llvm::Module& module, bool has_avx2);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_
