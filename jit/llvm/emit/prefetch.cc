#include "jit/llvm/emit/prefetch.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace ember::jit::llvm_ir {
namespace {

// size in bytes of the smallest vector that is prefetched
constexpr uint64_t kLeastBytes = 32;

constexpr int64_t kLineBytes = 64;

// A cache line that a load touches: a base pointer, and the distance from it in
// cache lines.
using Line = std::pair<const llvm::Value*, int64_t>;

Line LineOf(const llvm::LoadInst& load, const llvm::DataLayout& layout) {
  llvm::APInt offset(
      layout.getIndexTypeSizeInBits(load.getPointerOperand()->getType()), 0);
  const llvm::Value* const base =
      load.getPointerOperand()->stripAndAccumulateConstantOffsets(
          layout, offset, /*AllowNonInbounds=*/true);
  const int64_t bytes = offset.getSExtValue();
  return {base, (bytes - (bytes < 0 ? kLineBytes - 1 : 0)) / kLineBytes};
}

// Returns the loads that get a prefetch: large loads of constants in innermost
// loops, one for each cache line.
std::vector<llvm::LoadInst*> StreamedLoads(llvm::Function& function) {
  const llvm::DominatorTree tree(function);
  const llvm::LoopInfo loops(tree);
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<llvm::LoadInst*> loads;
  for (llvm::BasicBlock& block : function) {
    const llvm::Loop* const loop = loops.getLoopFor(&block);
    if (loop == nullptr || !loop->isInnermost()) continue;
    std::set<Line> lines;
    for (llvm::Instruction& instruction : block) {
      auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load != nullptr &&
          load->hasMetadata(llvm::LLVMContext::MD_invariant_load) &&
          layout.getTypeStoreSize(load->getType()) >= kLeastBytes &&
          lines.insert(LineOf(*load, layout)).second) {
        loads.push_back(load);
      }
    }
  }
  return loads;
}

}  // namespace

void PrefetchConstants(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    for (llvm::LoadInst* load : StreamedLoads(function)) {
      llvm::IRBuilder<> b(load);
      // The address arithmetic is not marked inbounds, because the prefetched
      // address may be beyond the constant's end.
      llvm::Value* const ahead =
          b.CreateGEP(b.getInt8Ty(), load->getPointerOperand(),
                      b.getInt64(kPrefetchDistance));
      b.CreateIntrinsic(llvm::Intrinsic::prefetch, {ahead->getType()},
                        {ahead, b.getInt32(0), b.getInt32(3), b.getInt32(1)});
    }
  }
}

}  // namespace ember::jit::llvm_ir
