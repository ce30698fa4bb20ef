#include "jit/llvm/passes/broadcast_indices.h"

#include <algorithm>

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Operator.h"

namespace ember::jit::llvm_ir {
namespace {

// True if the vector of pointers is one pointer plus 0 in each lane, so that
// all lanes have the same address.
bool IsOneAddress(const llvm::Value* pointers) {
  const auto* const inner = llvm::dyn_cast<llvm::GEPOperator>(pointers);
  return inner != nullptr &&
         !inner->getPointerOperand()->getType()->isVectorTy() &&
         std::all_of(inner->idx_begin(), inner->idx_end(),
                     [](const llvm::Use& index) {
                       const auto* const constant =
                           llvm::dyn_cast<llvm::Constant>(index.get());
                       return constant != nullptr && constant->isNullValue();
                     });
}

}  // namespace

llvm::PreservedAnalyses BroadcastIndices::run(llvm::Function& function,
                                              llvm::FunctionAnalysisManager&) {
  bool has_changed = false;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const outer = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction);
    const auto* const lanes =
        outer == nullptr ? nullptr
                         : llvm::dyn_cast<llvm::VectorType>(outer->getType());
    if (lanes == nullptr || !IsOneAddress(outer->getPointerOperand())) continue;
    llvm::IRBuilder<> builder(outer);
    for (llvm::Use& index : outer->indices()) {
      if (index->getType()->isVectorTy()) continue;
      index.set(
          builder.CreateVectorSplat(lanes->getElementCount(), index.get()));
      has_changed = true;
    }
  }
  if (!has_changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace ember::jit::llvm_ir
