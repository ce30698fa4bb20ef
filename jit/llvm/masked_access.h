// Masked loads and stores, made safe for LLVM 19 on x86 with AVX but without
// AVX-512.
//
// There LLVM takes masks of vectors that it had to split, and that are known in
// part, for masks of which all lanes are on, and reads what is off. So they
// become the machine's instructions here, a register each, behind all passes
// that know what a mask is.
#ifndef EMBER_JIT_LLVM_MASKED_ACCESS_H_
#define EMBER_JIT_LLVM_MASKED_ACCESS_H_

#include "llvm/IR/Module.h"

namespace ember::jit {

// Of elements of 32 and 64 bits; LLVM makes branches of others. Vectors have a
// power of two of lanes. has_avx2: there are instructions for integers.
void LowerMaskedAccesses(llvm::Module& module, bool has_avx2);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_MASKED_ACCESS_H_
