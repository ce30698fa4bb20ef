// Makes gathers safe for LLVM 19.
//
// If all lanes of a part of a gather are known to be inactive, LLVM leaves the
// indices undefined, and may put them into the register of the result. On x86
// the instruction then traps. Such parts come from constant masks, and from
// rounding a number of lanes up to a power of two. So here such gathers get
// addresses, and a power of two of lanes, after all passes that could remove
// them again.
#ifndef EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_
#define EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

void DefineGatherLanes(llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_
