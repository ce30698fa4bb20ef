// Gathers, made safe for LLVM 19.
//
// Of a part of a gather whose lanes are all known to be inactive, LLVM leaves
// the indices undefined, and may give them the register of the result. On x86
// the instruction traps then. That are parts under a constant mask, and what a
// number of lanes is rounded up by that is no power of two. So such gathers get
// addresses, and that many lanes, here: after all passes that could remove them
// again.
#ifndef EMBER_JIT_LLVM_GATHER_LANES_H_
#define EMBER_JIT_LLVM_GATHER_LANES_H_

#include "llvm/IR/Module.h"

namespace ember::jit {

void DefineGatherLanes(llvm::Module& module);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_GATHER_LANES_H_
