// A pass that works around a bug of LLVM 19's instcombine, before which it
// runs. From the code below, instcombine alone makes a scalar address where a
// vector of addresses is needed, so that the module is invalid:
//
//   %i = or disjoint i64 %n, 1
//   %inner = getelementptr i8, ptr %p, <16 x i64> zeroinitializer
//   %outer = getelementptr i8, <16 x ptr> %inner, i64 %i
//
// LLVM's licm produces such code for a gather whose lanes all have the same
// address. instcombine splits the sum and forgets that one index was a vector.
// The pass replaces the scalar index by a vector, which prevents that:
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
