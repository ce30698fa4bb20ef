// If a function only moves f16 values, replaces them by their bits, as i16:
//
//   %h = bitcast i16 %m to half
//   %s = select i1 %c, half %h, half 0xH3C00      // 1.0
//   %r = bitcast half %s to i16
//
// becomes %r = select i1 %c, i16 %m, i16 15360.
//
// LLVM 19 holds an f16 in a register of f32 on WebAssembly, and converts it by
// a function of a library even if the value is only moved. Legalisation
// (jit/legalise) has already expressed arithmetic on f16 by other types, so
// accesses of memory, selections, vectors of elements, phis, negations and
// absolute values are what is left. A function with anything else stays as it
// is. Thread-compatible.
#ifndef EMBER_JIT_LLVM_PASSES_HALF_BITS_H_
#define EMBER_JIT_LLVM_PASSES_HALF_BITS_H_

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

void ReplaceHalvesByBits(llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_HALF_BITS_H_
