#include "jit/llvm/missing_instructions.h"

#include <utility>
#include <vector>

#include "jit/llvm/missing_division.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"

namespace ember::jit {
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

// Writes one operation as others.
class Expansion {
 public:
  explicit Expansion(Instruction& instruction)
      : instruction_(instruction),
        b_(instruction.getContext(),
           llvm::InstSimplifyFolder(instruction.getModule()->getDataLayout())) {
    b_.SetInsertPoint(&instruction);
  }

  // Null: the machine has it.
  Value* Of(const TargetTraits& target) {
    switch (instruction_.getOpcode()) {
      case Instruction::FPExt:
        return !target.has_half_conversion && IsHalf(A()) ? HalfToFloat()
                                                          : nullptr;
      case Instruction::FPTrunc:
        return !target.has_half_conversion && IsHalf(&instruction_) &&
                       IsOf(A(), 32)
                   ? FloatToHalf()
                   : nullptr;
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
      case Intrinsic::floor:
      case Intrinsic::ceil:
      case Intrinsic::trunc:
      case Intrinsic::roundeven:
        return target.has_rounding ? nullptr : Round(call->getIntrinsicID());
      case Intrinsic::minnum:
      case Intrinsic::maxnum:
        return target.has_rounding ? nullptr : Extreme(call->getIntrinsicID());
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
  Value* Less(Value* a, uint64_t limit) {
    return b_.CreateICmpULT(a, Word(a, limit));
  }

  // --- f16, in integers: those of its subnormal numbers count in units of
  // 2^-24.

  Value* HalfToFloat() {
    llvm::Type* word = ShapedAs(b_.getInt32Ty(), A());
    Value* const bits = b_.CreateZExt(BitsOf(A()), word);
    Value* const sign =
        b_.CreateShl(b_.CreateAnd(bits, Word(bits, 0x8000)), 16);
    Value* const size = b_.CreateAnd(bits, Word(bits, 0x7fff));
    Value* const shifted = b_.CreateShl(size, 13);
    Value* const normal = b_.CreateAdd(shifted, Word(bits, 112u << 23));
    Value* const large = b_.CreateAdd(shifted, Word(bits, 224u << 23));
    Value* units = b_.CreateSIToFP(size, ShapedAs(b_.getFloatTy(), A()));
    units = BitsOf(b_.CreateFMul(units, Number(units, 0x1p-24)));
    Value* result = b_.CreateSelect(Less(size, 0x400), units, normal);
    result = b_.CreateSelect(Less(size, 0x7c00), result, large);
    Value* const single = As(b_.getFloatTy(), b_.CreateOr(result, sign));
    return b_.CreateFPExt(single, instruction_.getType());
  }

  Value* FloatToHalf() {
    Value* const bits = BitsOf(A());
    Value* const sign =
        b_.CreateAnd(b_.CreateLShr(bits, 16), Word(bits, 0x8000));
    Value* const size = b_.CreateAnd(bits, Word(bits, 0x7fffffff));
    Value* const odd = b_.CreateAnd(b_.CreateLShr(size, 13), Word(bits, 1));
    Value* normal = b_.CreateSub(size, Word(bits, (112u << 23) - 0xfff));
    normal = b_.CreateLShr(b_.CreateAdd(normal, odd), 13);
    // An ulp of 0.5 is 2^-24, so adding it rounds to that.
    Value* const half = Number(A(), 0.5);
    Value* const sum = b_.CreateFAdd(As(b_.getFloatTy(), size), half);
    Value* const units = b_.CreateSub(BitsOf(sum), BitsOf(half));
    Value* result = b_.CreateSelect(Less(size, 113u << 23), units, normal);
    // 65520 and above.
    result =
        b_.CreateSelect(Less(size, 0x477ff000), result, Word(bits, 0x7c00));
    Value* const nan =
        b_.CreateOr(b_.CreateAnd(b_.CreateLShr(size, 13), Word(bits, 0x3ff)),
                    Word(bits, 0x7e00));
    result = b_.CreateSelect(Less(size, 0x7f800001), result, nan);
    result = b_.CreateOr(result, sign);
    return HalfBits(b_.CreateTrunc(result, ShapedAs(b_.getInt16Ty(), A())));
  }

  // --- 64-bit integers

  // Rounded once, by the sum; exact for numbers of 53 bits.
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

  // Numbers that fit, others are as undefined as they were.
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

  // --- rounding

  // Where ulps are 1, adding rounds to whole numbers; what is larger is one.
  Value* Round(llvm::Intrinsic::ID how) {
    const bool is_double = A()->getType()->getScalarType()->isDoubleTy();
    Value* const limit = Number(A(), is_double ? 0x1p52 : 0x1p23);
    Value* const size = b_.CreateUnaryIntrinsic(Intrinsic::fabs, A());
    Value* rounded = b_.CreateFSub(b_.CreateFAdd(size, limit), limit);
    Value *const one = Number(A(), 1), *const zero = Number(A(), 0);
    if (how == Intrinsic::trunc) {
      Value* const above = b_.CreateFCmpOGT(rounded, size);
      rounded = b_.CreateFSub(rounded, b_.CreateSelect(above, one, zero));
    }
    rounded = WithSign(rounded);
    if (how == Intrinsic::floor || how == Intrinsic::ceil) {
      const bool is_floor = how == Intrinsic::floor;
      Value* const beyond = is_floor ? b_.CreateFCmpOGT(rounded, A())
                                     : b_.CreateFCmpOLT(rounded, A());
      Value* const step = b_.CreateSelect(beyond, one, zero);
      rounded = is_floor ? b_.CreateFSub(rounded, step)
                         : b_.CreateFAdd(rounded, step);
      rounded = WithSign(rounded);
    }
    return b_.CreateSelect(b_.CreateFCmpOLT(size, limit), rounded, A());
  }

  // With that of the operand, as 0 has one, too.
  Value* WithSign(Value* value) {
    const unsigned bits = value->getType()->getScalarSizeInBits();
    const uint64_t sign = uint64_t{1} << (bits - 1);
    Value* const result =
        b_.CreateOr(b_.CreateAnd(BitsOf(value), Word(value, sign - 1)),
                    b_.CreateAnd(BitsOf(A()), Word(value, sign)));
    return b_.CreateBitCast(result, value->getType());
  }

  // Of a number and a NaN it is the number.
  Value* Extreme(llvm::Intrinsic::ID which) {
    Value* const b = instruction_.getOperand(1);
    Value* const takes_a = which == Intrinsic::minnum
                               ? b_.CreateFCmpOLT(A(), b)
                               : b_.CreateFCmpOGT(A(), b);
    Value* const is_nan = b_.CreateFCmpUNO(b, b);
    return b_.CreateSelect(b_.CreateOr(takes_a, is_nan), A(), b);
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

}  // namespace ember::jit
