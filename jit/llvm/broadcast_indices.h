// A pass in front of LLVM 19's instcombine, which makes the address of one lane
// of addresses of vectors, and a module that is none, where it meets
//
//   %i = or disjoint i64 %n, 1
//   %inner = getelementptr i8, ptr %p, <16 x i64> zeroinitializer
//   %outer = getelementptr i8, <16 x ptr> %inner, i64 %i
//
// as licm leaves them of a gather whose lanes all have one address: it splits
// the sum and forgets that one index was a vector. With an index for each lane,
//
//   %outer = getelementptr i8, <16 x ptr> %inner, <16 x i64> %i.splat
//
// it does not. RunPasses (pipeline.h) knows the pass as `broadcast-indices`.
#ifndef EMBER_JIT_LLVM_BROADCAST_INDICES_H_
#define EMBER_JIT_LLVM_BROADCAST_INDICES_H_

#include "llvm/IR/Function.h"
#include "llvm/IR/PassManager.h"

namespace ember::jit {

struct BroadcastIndices : llvm::PassInfoMixin<BroadcastIndices> {
  // Changes no block.
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager&);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_BROADCAST_INDICES_H_
