// Makes masked loads and stores safe for LLVM 19 on x86 with AVX but without
// AVX-512.
//
// There LLVM splits masks of which some lanes are known. It may take a part for
// a mask in which all lanes are set, and then reads lanes that must not be
// read. So these accesses become the machine's instructions here, one for each
// register, after all passes that interpret masks.
#ifndef EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_
#define EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

// Lowers the module's accesses of elements of 32 and 64 bits; LLVM makes
// branches of others. Vectors have a power of two of lanes. has_avx2: true if
// the machine has such instructions for integers.
void LowerMaskedAccesses(llvm::Module& module, bool has_avx2);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_MASKED_ACCESS_H_
