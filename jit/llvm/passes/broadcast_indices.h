// A pass that runs before LLVM 19's instcombine. Without it instcombine makes
// the address of one lane out of addresses of vectors, which is not a valid
// module, from code such as
//
//   %i = or disjoint i64 %n, 1
//   %inner = getelementptr i8, ptr %p, <16 x i64> zeroinitializer
//   %outer = getelementptr i8, <16 x ptr> %inner, i64 %i
//
// licm leaves this for a gather whose lanes all have one address. instcombine
// splits the sum and forgets that one index was a vector. The pass gives each
// lane an index, which prevents that:
//
//   %outer = getelementptr i8, <16 x ptr> %inner, <16 x i64> %i.splat
//
// RunPasses (pipeline.h) knows the pass as `broadcast-indices`.
#ifndef EMBER_JIT_LLVM_PASSES_BROADCAST_INDICES_H_
#define EMBER_JIT_LLVM_PASSES_BROADCAST_INDICES_H_

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace ember::jit::llvm_ir {

struct BroadcastIndices : llvm::PassInfoMixin<BroadcastIndices> {
  // Runs the pass. It changes no basic blocks.
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager&);
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_PASSES_BROADCAST_INDICES_H_
