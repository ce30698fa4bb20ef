#include "jit/llvm/arithmetic.h"

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/math/expand.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace ember::jit {

using llvm::CmpInst;
using llvm::Instruction;
using llvm::Value;
using tensor::Opcode;

namespace {

llvm::Constant* Integer(const Value* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

bool IsKnownNumber(Value* value) {
  using llvm::PatternMatch::m_APFloat;
  const llvm::APFloat* number = nullptr;
  return llvm::PatternMatch::match(value, m_APFloat(number)) &&
         !number->isNaN();
}

// log2 of a constant power of two, in all lanes.
std::optional<unsigned> ConstantLog2(Value* value) {
  const llvm::APInt* number = nullptr;
  if (!llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(number)))
    return std::nullopt;
  if (number->isNegative() || !number->isPowerOf2()) return std::nullopt;
  return number->logBase2();
}

bool IsUnsignedDivision(const Arithmetic::Operation& op) {
  return !IsSigned(op.type) || (op.range_a.low >= 0 && op.range_b.low >= 0);
}

}  // namespace

Value* Arithmetic::Emit(Opcode opcode, const Operation& op) {
  switch (opcode) {
#define EMBER_ROW(name, ...) \
  case Opcode::k##name:      \
    return name(op);
    EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
    EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, ...) case Opcode::k##name:
    EMBER_FOR_EACH_STRUCTURAL_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
    break;
  }
  return Unexpanded(op, tensor::InfoOf(opcode).text);
}

Value* Arithmetic::Unexpanded(const Operation& op, std::string_view name) {
  error_.Set(InternalError(Concat(
      {"expected functions to be expanded before code generation, found ", name,
       " of ", DTypeName(op.type)})));
  return op.a;
}

Value* Arithmetic::FloatRemainder(const Operation& op) {
  error_.Set(Decline(DeclineReason::kFloatRemainder, DTypeName(op.type)));
  return op.a;
}

Value* Arithmetic::WideA(const Operation& op) {
  return convert_.Widen(op.type, op.a);
}
Value* Arithmetic::WideB(const Operation& op) {
  return convert_.Widen(op.type, op.b);
}
Value* Arithmetic::Rounded(const Operation& op, Value* wide) {
  return convert_.Narrow(op.type, wide);
}

Value* Arithmetic::Function(const Operation& op, unsigned intrinsic) {
  return Rounded(op, b_.CreateUnaryIntrinsic(intrinsic, WideA(op)));
}

// --- unary

Value* Arithmetic::Negate(const Operation& op) {
  if (op.type == DType::kBF16) return b_.CreateXor(op.a, Integer(op.a, 0x8000));
  return IsFloat(op.type) ? b_.CreateFNeg(op.a) : b_.CreateNeg(op.a);
}

Value* Arithmetic::Absolute(const Operation& op) {
  if (op.type == DType::kBF16) return b_.CreateAnd(op.a, Integer(op.a, 0x7fff));
  if (IsFloat(op.type))
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, op.a);
  if (!IsSigned(op.type)) return op.a;
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, op.a, b_.getFalse());
}

Value* Arithmetic::Sign(const Operation& op) {
  if (!IsFloat(op.type)) {
    Value* zero = Integer(op.a, 0);
    Value* above = IsSigned(op.type) ? b_.CreateICmpSGT(op.a, zero)
                                     : b_.CreateICmpNE(op.a, zero);
    Value* result = b_.CreateZExt(above, op.a->getType());
    if (!IsSigned(op.type)) return result;
    return b_.CreateSelect(b_.CreateICmpSLT(op.a, zero), Integer(op.a, -1),
                           result);
  }
  Value* a = WideA(op);
  llvm::Type* type = a->getType();
  Value* zero = llvm::ConstantFP::get(type, 0.0);
  Value* result = b_.CreateSelect(b_.CreateFCmpOLT(a, zero),
                                  llvm::ConstantFP::get(type, -1.0), a);
  return Rounded(op, b_.CreateSelect(b_.CreateFCmpOGT(a, zero),
                                     llvm::ConstantFP::get(type, 1.0), result));
}

Value* Arithmetic::Not(const Operation& op) { return b_.CreateNot(op.a); }

Value* Arithmetic::Floor(const Operation& op) {
  return Function(op, llvm::Intrinsic::floor);
}
Value* Arithmetic::Ceil(const Operation& op) {
  return Function(op, llvm::Intrinsic::ceil);
}
Value* Arithmetic::Round(const Operation& op) {
  return Function(op, llvm::Intrinsic::roundeven);
}
Value* Arithmetic::Truncate(const Operation& op) {
  return Function(op, llvm::Intrinsic::trunc);
}
Value* Arithmetic::Sqrt(const Operation& op) {
  return Function(op, llvm::Intrinsic::sqrt);
}

// What jit/math replaces by other instructions.
#define EMBER_EXPANDED(name) \
  Value* Arithmetic::name(const Operation& op) { return Unexpanded(op, #name); }
EMBER_FOR_EACH_EXPANDED(EMBER_EXPANDED)
#undef EMBER_EXPANDED

// --- classification

Value* Arithmetic::IsNan(const Operation& op) {
  Value* a = WideA(op);
  return b_.CreateFCmpUNO(a, a);
}

Value* Arithmetic::IsInfinite(const Operation& op) {
  Value* a = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, WideA(op));
  return b_.CreateFCmpOEQ(a, llvm::ConstantFP::getInfinity(a->getType()));
}

// --- binary

Value* Arithmetic::Add(const Operation& op) {
  if (!IsFloat(op.type)) return b_.CreateAdd(op.a, op.b);
  return Rounded(op, b_.CreateFAdd(WideA(op), WideB(op)));
}
Value* Arithmetic::Subtract(const Operation& op) {
  if (!IsFloat(op.type)) return b_.CreateSub(op.a, op.b);
  return Rounded(op, b_.CreateFSub(WideA(op), WideB(op)));
}
Value* Arithmetic::Multiply(const Operation& op) {
  if (!IsFloat(op.type)) return b_.CreateMul(op.a, op.b);
  return Rounded(op, b_.CreateFMul(WideA(op), WideB(op)));
}

// b, but 1 where the machine's division would trap.
Value* Arithmetic::SafeDivisor(const Operation& op) {
  Value* traps = b_.getFalse();
  if (op.range_b.Contains(0)) traps = b_.CreateICmpEQ(op.b, Integer(op.b, 0));
  if (IsSigned(op.type) && op.range_b.Contains(-1)) {
    Value* is_minus_one = b_.CreateICmpEQ(op.b, Integer(op.b, -1));
    traps = op.range_b.Contains(0) ? b_.CreateOr(traps, is_minus_one)
                                   : is_minus_one;
  }
  return b_.CreateSelect(traps, Integer(op.b, 1), op.b);
}

Value* Arithmetic::Quotient(const Operation& op, Value* divisor,
                            Instruction::BinaryOps operation) {
  const bool is_unsigned = IsUnsignedDivision(op);
  // Without -2^31, whose quotient by -1 has more bits.
  const tensor::Interval range = is_unsigned
                                     ? tensor::Interval{0, UINT32_MAX}
                                     : tensor::Interval{-INT32_MAX, INT32_MAX};
  const bool is_short = op.type == DType::kI64 && op.range_a.Within(range) &&
                        op.range_b.Within(range);
  if (target_.has_long_integers || !is_short)
    return b_.CreateBinOp(operation, op.a, divisor);
  llvm::Type* const word = ShapedAs(b_.getInt32Ty(), op.a);
  return b_.CreateIntCast(b_.CreateBinOp(operation, b_.CreateTrunc(op.a, word),
                                         b_.CreateTrunc(divisor, word)),
                          op.a->getType(), !is_unsigned);
}

Value* Arithmetic::Divide(const Operation& op) {
  if (IsFloat(op.type)) return Rounded(op, b_.CreateFDiv(WideA(op), WideB(op)));
  Value* quotient =
      Quotient(op, SafeDivisor(op),
               IsUnsignedDivision(op) ? Instruction::UDiv : Instruction::SDiv);
  if (IsSigned(op.type) && op.range_b.Contains(-1)) {
    quotient = b_.CreateSelect(b_.CreateICmpEQ(op.b, Integer(op.b, -1)),
                               b_.CreateNeg(op.a), quotient);
  }
  if (!op.range_b.Contains(0)) return quotient;
  return b_.CreateSelect(b_.CreateICmpEQ(op.b, Integer(op.b, 0)),
                         Integer(op.b, 0), quotient);
}

Value* Arithmetic::Remainder(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  return Quotient(
      op, SafeDivisor(op),
      IsUnsignedDivision(op) ? Instruction::URem : Instruction::SRem);
}

// Whether a remainder is one of a quotient rounded down: it is 0 or has the
// divisor's sign.
Value* Arithmetic::RemainderFits(const Operation& op, Value* remainder) {
  Value* zero = Integer(remainder, 0);
  Value* same_sign = b_.CreateICmpSGE(b_.CreateXor(remainder, op.b), zero);
  return b_.CreateOr(b_.CreateICmpEQ(remainder, zero), same_sign);
}

Value* Arithmetic::FloorDivide(const Operation& op) {
  if (IsUnsignedDivision(op)) return Divide(op);
  if (const auto shift = ConstantLog2(op.b)) return b_.CreateAShr(op.a, *shift);
  Value* quotient = Divide(op);
  Value* fits = RemainderFits(op, Remainder(op));
  return b_.CreateSelect(fits, quotient,
                         b_.CreateSub(quotient, Integer(quotient, 1)));
}

Value* Arithmetic::Modulo(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  if (IsUnsignedDivision(op)) return Remainder(op);
  if (ConstantLog2(op.b))
    return b_.CreateAnd(op.a, b_.CreateSub(op.b, Integer(op.b, 1)));
  Value* remainder = Remainder(op);
  return b_.CreateSelect(RemainderFits(op, remainder), remainder,
                         b_.CreateAdd(remainder, op.b));
}

// b where it is beyond a, else a: one instruction of most machines. A NaN in b
// is put over that as a constant; b itself would make LLVM merge both choices.
Value* Arithmetic::Extreme(const Operation& op, CmpInst::Predicate ordered,
                           CmpInst::Predicate unordered) {
  Value* a = WideA(op);
  Value* b = WideB(op);
  if (IsKnownNumber(a))
    return b_.CreateSelect(b_.CreateFCmp(unordered, b, a), op.b, op.a);
  Value* result = b_.CreateSelect(b_.CreateFCmp(ordered, b, a), op.b, op.a);
  if (IsKnownNumber(b)) return result;
  Value* nan = Rounded(op, llvm::ConstantFP::getNaN(b->getType()));
  return b_.CreateSelect(b_.CreateFCmpUNO(b, b), nan, result);
}

Value* Arithmetic::Minimum(const Operation& op) {
  if (IsFloat(op.type))
    return Extreme(op, CmpInst::FCMP_OLT, CmpInst::FCMP_ULT);
  if (op.type == DType::kBool) return b_.CreateAnd(op.a, op.b);
  return b_.CreateBinaryIntrinsic(
      IsSigned(op.type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, op.a,
      op.b);
}

Value* Arithmetic::Maximum(const Operation& op) {
  if (IsFloat(op.type))
    return Extreme(op, CmpInst::FCMP_OGT, CmpInst::FCMP_UGT);
  if (op.type == DType::kBool) return b_.CreateOr(op.a, op.b);
  return b_.CreateBinaryIntrinsic(
      IsSigned(op.type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, op.a,
      op.b);
}

Value* Arithmetic::And(const Operation& op) { return b_.CreateAnd(op.a, op.b); }
Value* Arithmetic::Or(const Operation& op) { return b_.CreateOr(op.a, op.b); }
Value* Arithmetic::Xor(const Operation& op) { return b_.CreateXor(op.a, op.b); }

Value* Arithmetic::InShiftRange(const Operation& op) {
  return b_.CreateICmpULT(op.b, Integer(op.b, 8 * DTypeByteSize(op.type)));
}

Value* Arithmetic::ShiftLeft(const Operation& op) {
  return b_.CreateSelect(InShiftRange(op), b_.CreateShl(op.a, op.b),
                         Integer(op.a, 0));
}

Value* Arithmetic::ShiftRight(const Operation& op) {
  if (!IsSigned(op.type)) {
    return b_.CreateSelect(InShiftRange(op), b_.CreateLShr(op.a, op.b),
                           Integer(op.a, 0));
  }
  Value* last = Integer(op.b, 8 * DTypeByteSize(op.type) - 1);
  return b_.CreateAShr(op.a, b_.CreateSelect(InShiftRange(op), op.b, last));
}

// --- comparisons

Value* Arithmetic::Equal(const Operation& op) {
  if (!IsFloat(op.type)) return b_.CreateICmpEQ(op.a, op.b);
  return b_.CreateFCmpOEQ(WideA(op), WideB(op));
}
Value* Arithmetic::NotEqual(const Operation& op) {
  if (!IsFloat(op.type)) return b_.CreateICmpNE(op.a, op.b);
  return b_.CreateFCmpUNE(WideA(op), WideB(op));
}
Value* Arithmetic::Less(const Operation& op) {
  if (IsFloat(op.type)) return b_.CreateFCmpOLT(WideA(op), WideB(op));
  return IsSigned(op.type) ? b_.CreateICmpSLT(op.a, op.b)
                           : b_.CreateICmpULT(op.a, op.b);
}
Value* Arithmetic::LessEqual(const Operation& op) {
  if (IsFloat(op.type)) return b_.CreateFCmpOLE(WideA(op), WideB(op));
  return IsSigned(op.type) ? b_.CreateICmpSLE(op.a, op.b)
                           : b_.CreateICmpULE(op.a, op.b);
}

}  // namespace ember::jit
