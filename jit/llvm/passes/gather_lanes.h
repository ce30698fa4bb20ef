// Makes gathers safe for LLVM 19, which splits a gather into instructions for
// one register each. If all lanes of one are known to be inactive, LLVM leaves
// its indices undefined and may use the result's register for them; on x86 the
// instruction then traps. That happens with constant masks, and when LLVM
// rounds a number of lanes up to a power of two. This pass gives such gathers
// valid addresses and a power of two of lanes. It runs after all passes that
// could undo that.
#ifndef EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_
#define EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_

#include "llvm/IR/Module.h"

namespace ember::jit::llvm_ir {

void DefineGatherLanes(llvm::Module& module);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_GATHER_LANES_H_
