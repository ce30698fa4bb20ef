#include "jit/llvm/passes/missing_instructions.h"

#include <utility>
#include <vector>

#include "jit/llvm/passes/missing_division.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::Instruction;
using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool IsOf(const Value* value, unsigned scalar_bits) {
  return value->getType()->getScalarSizeInBits() == scalar_bits;
}

bool IsHalf(const Value* value) {
  return value->getType()->getScalarType()->isHalfTy();
}

// Emits the operations that replace one instruction, before that instruction.
class Expansion {
 public:
  explicit Expansion(Instruction& instruction)
      : instruction_(instruction),
        b_(instruction.getContext(),
           llvm::InstSimplifyFolder(instruction.getModule()->getDataLayout())) {
    b_.SetInsertPoint(&instruction);
  }

  // Returns a value that equals the instruction's result, computed by other
  // operations; null if the machine has the instruction.
  Value* Of(const TargetTraits& target) {
    switch (instruction_.getOpcode()) {
      case Instruction::FNeg:
        return !target.has_half_conversion && IsHalf(A())
                   ? HalfBits(b_.CreateXor(BitsOf(A()), Word(A(), 0x8000)))
                   : nullptr;
      case Instruction::SIToFP:
      case Instruction::UIToFP:
        return !target.has_long_integers && IsOf(A(), 64) ? LongToFloat()
                                                          : nullptr;
      case Instruction::FPToSI:
      case Instruction::FPToUI:
        return !target.has_long_integers && IsOf(&instruction_, 64)
                   ? FloatToLong()
                   : nullptr;
      case Instruction::Call:
        return OfCall(target);
      default:
        return nullptr;
    }
  }

 private:
  Value* OfCall(const TargetTraits& target) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_);
    if (call == nullptr) return nullptr;
    switch (call->getIntrinsicID()) {
      case Intrinsic::fabs:
        return !target.has_half_conversion && IsHalf(A())
                   ? HalfBits(b_.CreateAnd(BitsOf(A()), Word(A(), 0x7fff)))
                   : nullptr;
      default:
        return nullptr;
    }
  }

  Value* A() { return instruction_.getOperand(0); }
  llvm::Constant* Word(Value* shape, uint64_t bits) {
    const unsigned width = shape->getType()->getScalarSizeInBits();
    return llvm::ConstantInt::get(ShapedAs(b_.getIntNTy(width), shape), bits);
  }
  llvm::Constant* Number(Value* shape, double number) {
    return llvm::ConstantFP::get(shape->getType(), number);
  }
  Value* As(llvm::Type* element, Value* value) {
    return b_.CreateBitCast(value, ShapedAs(element, value));
  }
  Value* BitsOf(Value* value) {
    return As(b_.getIntNTy(value->getType()->getScalarSizeInBits()), value);
  }
  Value* HalfBits(Value* bits) { return As(b_.getHalfTy(), bits); }

  // --- 64-bit integers

  // Converts a 64-bit integer to f64, as the sum of its two halves. The sum
  // rounds once, and is exact for numbers of 53 bits.
  Value* LongToDouble(Value* value, bool is_signed) {
    llvm::Type* const word = ShapedAs(b_.getInt32Ty(), value);
    llvm::Type* const number = ShapedAs(b_.getDoubleTy(), value);
    Value* high = b_.CreateTrunc(b_.CreateLShr(value, 32), word);
    Value* low = b_.CreateTrunc(value, word);
    high = is_signed ? b_.CreateSIToFP(high, number)
                     : b_.CreateUIToFP(high, number);
    low = b_.CreateUIToFP(low, number);
    return b_.CreateFAdd(b_.CreateFMul(high, Number(high, 0x1p32)), low);
  }

  Value* LongToFloat() {
    const bool is_signed = instruction_.getOpcode() == Instruction::SIToFP;
    llvm::Type* const type = instruction_.getType();
    if (type->getScalarType()->isDoubleTy())
      return LongToDouble(A(), is_signed);
    Value* const negative = is_signed
                                ? b_.CreateICmpSLT(A(), Word(A(), 0))
                                : b_.CreateICmpNE(Word(A(), 0), Word(A(), 0));
    Value* const size = b_.CreateSelect(negative, b_.CreateNeg(A()), A());
    Value* result = LongToDouble(GatherLostBits(b_, size), false);
    result = b_.CreateFPTrunc(result, type);
    return b_.CreateSelect(negative, b_.CreateFNeg(result), result);
  }

  // Converts a float to a 64-bit integer. Numbers that do not fit the integer
  // have an undefined result, as in the replaced instruction.
  Value* FloatToLong() {
    llvm::Type* const type = instruction_.getType();
    llvm::Type* const word = ShapedAs(b_.getInt32Ty(), A());
    Value* value = A();
    if (!value->getType()->getScalarType()->isDoubleTy())
      value = b_.CreateFPExt(value, ShapedAs(b_.getDoubleTy(), value));
    const bool is_signed = instruction_.getOpcode() == Instruction::FPToSI;
    Value* const negative = b_.CreateFCmpOLT(value, Number(value, 0));
    Value* size = value;
    if (is_signed) size = b_.CreateUnaryIntrinsic(Intrinsic::fabs, value);
    Value* const high =
        b_.CreateFPToUI(b_.CreateFMul(size, Number(size, 0x1p-32)), word);
    Value* const rest = b_.CreateFSub(
        size, b_.CreateFMul(b_.CreateUIToFP(high, size->getType()),
                            Number(size, 0x1p32)));
    Value* const low = b_.CreateFPToUI(rest, word);
    Value* const result = b_.CreateOr(
        b_.CreateShl(b_.CreateZExt(high, type), 32), b_.CreateZExt(low, type));
    if (!is_signed) return result;
    return b_.CreateSelect(negative, b_.CreateNeg(result), result);
  }

  Instruction& instruction_;
  Builder b_;
};

}  // namespace

void ExpandMissingInstructions(const TargetTraits& target,
                               llvm::Module& module) {
  std::vector<Instruction*> all;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (Instruction& instruction : block) all.push_back(&instruction);
    }
  }
  for (Instruction* instruction : all) {
    Value* const expanded = Expansion(*instruction).Of(target);
    if (expanded == nullptr) continue;
    instruction->replaceAllUsesWith(expanded);
    instruction->eraseFromParent();
  }
  ExpandMissingDivisions(target, module);
}

}  // namespace ember::jit::llvm_ir
