#include "jit/llvm/passes/missing_division.h"

#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/IntegerDivision.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::BinaryOperator;
using llvm::Instruction;
using llvm::Value;

bool IsSignedDivision(const BinaryOperator& division) {
  return division.getOpcode() == Instruction::SDiv ||
         division.getOpcode() == Instruction::SRem;
}

bool IsMissing(const TargetTraits& target, const Instruction& instruction) {
  const auto* division = llvm::dyn_cast<BinaryOperator>(&instruction);
  if (division == nullptr || !division->isIntDivRem()) return false;
  const bool is_long = division->getType()->getScalarSizeInBits() > 32;
  if (is_long ? target.has_long_integers : target.has_division) return false;
  // LLVM replaces a division by a power of two by a shift, and one by another
  // constant by a multiplication, if the product fits a register. So these
  // divisions are not missing.
  const llvm::APInt* divisor = nullptr;
  if (!llvm::PatternMatch::match(division->getOperand(1),
                                 llvm::PatternMatch::m_APInt(divisor)))
    return true;
  return is_long && !divisor->isPowerOf2();
}

class Divider {
 public:
  Divider(const TargetTraits& target, llvm::Module& module)
      : target_(target), module_(module) {}

  void Expand(BinaryOperator& division) {
    Builder b(module_.getContext(), Folder());
    b.SetInsertPoint(&division);
    Value* const a = division.getOperand(0);
    Value* const divisor = division.getOperand(1);
    Value* result = nullptr;
    if (const auto* type =
            llvm::dyn_cast<llvm::FixedVectorType>(division.getType())) {
      result = llvm::PoisonValue::get(division.getType());
      for (uint64_t lane = 0; lane < type->getNumElements(); ++lane) {
        result = b.CreateInsertElement(
            result,
            Scalar(b, division, b.CreateExtractElement(a, lane),
                   b.CreateExtractElement(divisor, lane)),
            lane);
      }
    } else {
      result = Scalar(b, division, a, divisor);
    }
    division.replaceAllUsesWith(result);
    division.eraseFromParent();
  }

 private:
  llvm::InstSimplifyFolder Folder() const {
    return llvm::InstSimplifyFolder(module_.getDataLayout());
  }

  Value* Scalar(Builder& b, const BinaryOperator& division, Value* a,
                Value* divisor) {
    const bool is_signed = IsSignedDivision(division);
    const bool is_remainder = division.getOpcode() == Instruction::SRem ||
                              division.getOpcode() == Instruction::URem;
    llvm::Type* const narrow = a->getType();
    llvm::Type* const type =
        narrow->getIntegerBitWidth() > 32 ? b.getInt64Ty() : b.getInt32Ty();
    a = b.CreateIntCast(a, type, is_signed);
    divisor = b.CreateIntCast(divisor, type, is_signed);
    Value* const quotient = b.CreateCall(
        Function(type), {Size(b, a, is_signed), Size(b, divisor, is_signed)});
    Value* result = quotient;
    if (is_signed) {
      Value* const is_negative = b.CreateICmpSLT(
          b.CreateXor(a, divisor), llvm::ConstantInt::get(type, 0));
      result = b.CreateSelect(is_negative, b.CreateNeg(quotient), quotient);
    }
    if (is_remainder) result = b.CreateSub(a, b.CreateMul(result, divisor));
    return b.CreateTrunc(result, narrow);
  }

  static Value* Size(Builder& b, Value* value, bool is_signed) {
    if (!is_signed) return value;
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, value, b.getFalse());
  }

  // Returns a function of the module that divides unsigned numbers: type(type
  // a, type b), which returns a / b.
  llvm::Function* Function(llvm::Type* type) {
    const bool is_long = type->isIntegerTy(64);
    llvm::Function*& function = functions_[is_long];
    if (function != nullptr) return function;
    function = llvm::Function::Create(
        llvm::FunctionType::get(type, {type, type}, false),
        llvm::Function::InternalLinkage, is_long ? "divide_long" : "divide",
        module_);
    function->addFnAttr(llvm::Attribute::NoUnwind);
    function->addFnAttr(llvm::Attribute::NoInline);
    Value* const a = function->getArg(0);
    Value* const divisor = function->getArg(1);
    llvm::LLVMContext& context = module_.getContext();
    auto* const entry = llvm::BasicBlock::Create(context, "entry", function);
    Builder b(context, Folder());
    b.SetInsertPoint(entry);
    if (is_long) {
      auto* const is_short =
          llvm::BasicBlock::Create(context, "short", function);
      auto* const other = llvm::BasicBlock::Create(context, "long", function);
      Value* const high = b.CreateLShr(b.CreateOr(a, divisor), 32);
      b.CreateCondBr(b.CreateICmpEQ(high, b.getInt64(0)), is_short, other);
      b.SetInsertPoint(is_short);
      Value* const quotient = Narrow(b, b.CreateTrunc(a, b.getInt32Ty()),
                                     b.CreateTrunc(divisor, b.getInt32Ty()));
      b.CreateRet(b.CreateZExt(quotient, type));
      b.SetInsertPoint(other);
    }
    auto* const division =
        BinaryOperator::Create(Instruction::UDiv, a, divisor);
    b.Insert(division);
    b.CreateRet(division);
    llvm::expandDivision(division);
    return function;
  }

  Value* Narrow(Builder& b, Value* a, Value* divisor) {
    if (target_.has_division) return b.CreateUDiv(a, divisor);
    return b.CreateCall(Function(b.getInt32Ty()), {a, divisor});
  }

  const TargetTraits& target_;
  llvm::Module& module_;
  // The functions that divide: for numbers of 32 bits and of 64 bits; null
  // until one is needed.
  llvm::Function* functions_[2] = {};
};

}  // namespace

void ExpandMissingDivisions(const TargetTraits& target, llvm::Module& module) {
  if (target.has_division && target.has_long_integers) return;
  std::vector<BinaryOperator*> missing;
  for (llvm::Function& function : module) {
    for (llvm::BasicBlock& block : function) {
      for (Instruction& instruction : block) {
        if (IsMissing(target, instruction))
          missing.push_back(llvm::cast<BinaryOperator>(&instruction));
      }
    }
  }
  Divider divider(target, module);
  for (BinaryOperator* division : missing) divider.Expand(*division);
}

}  // namespace ember::jit::llvm_ir
