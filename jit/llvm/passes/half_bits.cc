#include "jit/llvm/passes/half_bits.h"

#include <utility>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/Casting.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::Instruction;
using llvm::Value;

bool IsHalf(const llvm::Type* type) {
  return type->getScalarType()->isHalfTy();
}

llvm::Type* BitsOf(llvm::Type* half) {
  return half->getWithNewType(llvm::Type::getInt16Ty(half->getContext()));
}

class Replacer {
 public:
  explicit Replacer(llvm::Function& function)
      : function_(function), b_(function.getContext()) {}

  void Run() {
    std::vector<Instruction*> old;
    const llvm::ReversePostOrderTraversal<llvm::Function*> blocks(&function_);
    for (llvm::BasicBlock* block : blocks) {
      for (Instruction& instruction : llvm::make_early_inc_range(*block)) {
        if (IsHalf(instruction.getType())) old.push_back(&instruction);
        Replace(instruction);
      }
    }
    for (const auto& [phi, bits] : phis_) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
        bits->addIncoming(Bits(phi->getIncomingValue(i)),
                          phi->getIncomingBlock(i));
    }
    // The replaced instructions are now unused, or only used by each other, so
    // they are erased.
    for (Instruction* instruction : llvm::reverse(old)) {
      instruction->replaceAllUsesWith(
          llvm::PoisonValue::get(instruction->getType()));
      instruction->eraseFromParent();
    }
  }

 private:
  // Returns the bits of a constant, or of a value whose defining instruction
  // was replaced before. Definitions are visited before their uses; only phis
  // can use later ones, so their operands are added at the end.
  Value* Bits(Value* half) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(half))
      return llvm::ConstantExpr::getBitCast(constant, BitsOf(half->getType()));
    return bits_.lookup(half);
  }

  void Replace(Instruction& instruction) {
    b_.SetInsertPoint(&instruction);
    if (!IsHalf(instruction.getType())) return ReplaceUse(instruction);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
      auto* const bits =
          b_.CreatePHI(BitsOf(phi->getType()), phi->getNumIncomingValues());
      phis_.emplace_back(phi, bits);
      bits_[phi] = bits;
      return;
    }
    if (Value* const bits = BitsOfMoved(instruction))
      bits_[&instruction] = bits;
  }

  // Returns the result of an f16 instruction as bits; null if the instruction
  // does not just move values.
  Value* BitsOfMoved(Instruction& instruction) {
    const auto bits = [&](unsigned i) {
      return Bits(instruction.getOperand(i));
    };
    const auto number = [&](uint64_t value) {
      return llvm::ConstantInt::get(BitsOf(instruction.getType()), value);
    };
    switch (instruction.getOpcode()) {
      case Instruction::BitCast:
        return b_.CreateBitCast(instruction.getOperand(0),
                                BitsOf(instruction.getType()));
      case Instruction::Load:
        return LoadOfBits(llvm::cast<llvm::LoadInst>(instruction));
      case Instruction::Select:
        return b_.CreateSelect(instruction.getOperand(0), bits(1), bits(2));
      case Instruction::Freeze:
        return b_.CreateFreeze(bits(0));
      case Instruction::InsertElement:
        return b_.CreateInsertElement(bits(0), bits(1),
                                      instruction.getOperand(2));
      case Instruction::ExtractElement:
        return b_.CreateExtractElement(bits(0), instruction.getOperand(1));
      case Instruction::ShuffleVector:
        return b_.CreateShuffleVector(
            bits(0), bits(1),
            llvm::cast<llvm::ShuffleVectorInst>(instruction).getShuffleMask());
      case Instruction::FNeg:
        return b_.CreateXor(bits(0), number(0x8000));
      default:
        break;
    }
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fabs)
      return b_.CreateAnd(bits(0), number(0x7fff));
    return nullptr;
  }

  Value* LoadOfBits(llvm::LoadInst& load) {
    llvm::LoadInst* const bits =
        b_.CreateAlignedLoad(BitsOf(load.getType()), load.getPointerOperand(),
                             load.getAlign(), load.isVolatile());
    bits->copyMetadata(load);
    return bits;
  }

  // Replaces an instruction that stores an f16 or converts one to its bits.
  void ReplaceUse(Instruction& instruction) {
    auto* const store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (store != nullptr && IsHalf(store->getValueOperand()->getType())) {
      Value* const bits = Bits(store->getValueOperand());
      b_.CreateAlignedStore(bits, store->getPointerOperand(), store->getAlign(),
                            store->isVolatile())
          ->copyMetadata(*store);
      store->eraseFromParent();
      return;
    }
    if (instruction.getOpcode() != Instruction::BitCast ||
        !IsHalf(instruction.getOperand(0)->getType()))
      return;
    Value* const bits = Bits(instruction.getOperand(0));
    b_.SetInsertPoint(&instruction);
    instruction.replaceAllUsesWith(
        b_.CreateBitCast(bits, instruction.getType()));
    instruction.eraseFromParent();
  }

  llvm::Function& function_;
  llvm::IRBuilder<> b_;
  llvm::DenseMap<Value*, Value*> bits_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
};

// True if the function only moves f16 values, so that all of them can be
// replaced by their bits. Negations and absolute values count as moves.
bool OnlyMovesHalves(const llvm::Function& function) {
  for (const llvm::Argument& argument : function.args()) {
    if (IsHalf(argument.getType())) return false;
  }
  for (const llvm::BasicBlock& block : function) {
    for (const Instruction& instruction : block) {
      const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      const bool uses_half =
          IsHalf(instruction.getType()) ||
          llvm::any_of(instruction.operands(), [](const llvm::Use& operand) {
            return IsHalf(operand->getType());
          });
      if (!uses_half) continue;
      switch (instruction.getOpcode()) {
        case Instruction::BitCast:
        case Instruction::Load:
        case Instruction::Store:
        case Instruction::Select:
        case Instruction::Freeze:
        case Instruction::InsertElement:
        case Instruction::ExtractElement:
        case Instruction::ShuffleVector:
        case Instruction::FNeg:
        case Instruction::PHI:
          continue;
        default:
          break;
      }
      if (call == nullptr || call->getIntrinsicID() != llvm::Intrinsic::fabs)
        return false;
    }
  }
  return true;
}

}  // namespace

void ReplaceHalvesByBits(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && OnlyMovesHalves(function))
      Replacer(function).Run();
  }
}

}  // namespace ember::jit::llvm_ir
