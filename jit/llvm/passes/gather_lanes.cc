#include "jit/llvm/passes/gather_lanes.h"

#include <vector>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/MathExtras.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::Value;

std::vector<llvm::IntrinsicInst*> GathersOf(llvm::Module& module) {
  std::vector<llvm::IntrinsicInst*> gathers;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& instruction : block) {
        auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
        if (call != nullptr &&
            call->getIntrinsicID() == llvm::Intrinsic::masked_gather) {
          gathers.push_back(call);
        }
      }
    }
  }
  return gathers;
}

bool HasInactiveLanes(const llvm::IntrinsicInst& gather) {
  const auto* mask = llvm::dyn_cast<llvm::Constant>(gather.getArgOperand(2));
  return mask != nullptr && !mask->isAllOnesValue();
}

// Returns the vector extended to as many lanes as `other` has. The added lanes
// are those of `other`.
Value* Widen(llvm::IRBuilder<>& b, Value* value, Value* other) {
  const auto lanes_of = [](Value* vector) {
    return static_cast<int>(
        llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  };
  const int old_lanes = lanes_of(value), lanes = lanes_of(other);
  if (old_lanes == lanes) return value;
  std::vector<int> widened(static_cast<size_t>(lanes), -1);
  std::vector<int> merged;
  for (int i = 0; i < lanes; ++i) {
    if (i < old_lanes) widened[static_cast<size_t>(i)] = i;
    merged.push_back(i < old_lanes ? i : lanes + i);
  }
  return b.CreateShuffleVector(b.CreateShuffleVector(value, widened), other,
                               merged);
}

Value* FirstLanes(llvm::IRBuilder<>& b, Value* value, unsigned lanes) {
  std::vector<int> first;
  for (unsigned i = 0; i < lanes; ++i) first.push_back(static_cast<int>(i));
  return b.CreateShuffleVector(value, first);
}

// Replaces the gather by one with a power of two of lanes, whose inactive lanes
// have the address `some_address`. Inactive lanes are not read.
void Define(llvm::IntrinsicInst* gather, Value* some_address) {
  llvm::IRBuilder<> b(gather);
  auto* type = llvm::cast<llvm::FixedVectorType>(gather->getType());
  const unsigned old_lanes = type->getNumElements();
  const auto lanes = static_cast<unsigned>(llvm::PowerOf2Ceil(old_lanes));
  Value* addresses = b.CreateVectorSplat(lanes, some_address);
  Value* mask = Widen(b, gather->getArgOperand(2),
                      llvm::Constant::getNullValue(
                          llvm::FixedVectorType::get(b.getInt1Ty(), lanes)));
  auto* wide_type = llvm::FixedVectorType::get(type->getElementType(), lanes);
  Value* otherwise = Widen(b, gather->getArgOperand(3),
                           llvm::Constant::getNullValue(wide_type));
  addresses = b.CreateSelect(
      mask, Widen(b, gather->getArgOperand(0), addresses), addresses);
  const llvm::Align alignment(
      llvm::cast<llvm::ConstantInt>(gather->getArgOperand(1))->getZExtValue());
  llvm::CallInst* wide =
      b.CreateMaskedGather(wide_type, addresses, alignment, mask, otherwise);
  wide->copyMetadata(*gather);
  Value* result = lanes == old_lanes ? wide : FirstLanes(b, wide, old_lanes);
  gather->replaceAllUsesWith(result);
  gather->eraseFromParent();
}

}  // namespace

void DefineGatherLanes(llvm::Module& module) {
  llvm::GlobalVariable* some_memory = nullptr;
  for (llvm::IntrinsicInst* gather : GathersOf(module)) {
    const unsigned lanes =
        llvm::cast<llvm::FixedVectorType>(gather->getType())->getNumElements();
    if (llvm::isPowerOf2_32(lanes) && !HasInactiveLanes(*gather)) continue;
    if (some_memory == nullptr) {
      llvm::Type* type = llvm::Type::getInt64Ty(module.getContext());
      some_memory = new llvm::GlobalVariable(
          module, type, /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage,
          llvm::Constant::getNullValue(type), "inactive");
    }
    Define(gather, some_memory);
  }
}

}  // namespace ember::jit::llvm_ir
