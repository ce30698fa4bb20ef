#include "jit/llvm/emit/arithmetic.h"

#include <optional>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/math/expand.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"

namespace ember::jit::llvm_ir {

using llvm::Instruction;
using llvm::Value;
using tensor::Opcode;

namespace {

llvm::Constant* Integer(const Value* like, int64_t value) {
  return llvm::ConstantInt::getSigned(like->getType(), value);
}

// Returns log2 of the value if it is a constant power of two, or a vector that
// has this constant in all lanes; otherwise nullopt.
std::optional<unsigned> ConstantLog2(Value* value) {
  const llvm::APInt* number = nullptr;
  if (!llvm::PatternMatch::match(value, llvm::PatternMatch::m_APInt(number)))
    return std::nullopt;
  if (number->isNegative() || !number->isPowerOf2()) return std::nullopt;
  return number->logBase2();
}

}  // namespace

Value* Arithmetic::Emit(const Operation& op) {
  switch (op.opcode) {
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
  return Replaced(op);
}

Value* Arithmetic::Replaced(const Operation& op) {
  error_.Set(InternalError(
      Concat({"expected what jit/math and jit/legalise leave, found ",
              (op.is_raw ? "raw " : ""), tensor::InfoOf(op.opcode).text, " of ",
              DTypeName(op.type)})));
  return op.a;
}

Value* Arithmetic::FloatRemainder(const Operation& op) {
  error_.Set(Decline(DeclineReason::kFloatRemainder, DTypeName(op.type)));
  return op.a;
}

Value* Arithmetic::Function(const Operation& op, unsigned intrinsic) {
  return b_.CreateUnaryIntrinsic(intrinsic, op.a);
}

// --- unary

Value* Arithmetic::Negate(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFNeg(op.a) : b_.CreateNeg(op.a);
}

Value* Arithmetic::Absolute(const Operation& op) {
  if (IsFloat(op.type)) return Function(op, llvm::Intrinsic::fabs);
  return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, op.a, b_.getFalse());
}

Value* Arithmetic::Sign(const Operation& op) { return Replaced(op); }
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

// Transcendental functions that jit/math expands: legalisation has replaced
// them, so emitting one is an error.
#define EMBER_EXPANDED(name) \
  Value* Arithmetic::name(const Operation& op) { return Transcendental(op); }
EMBER_FOR_EACH_EXPANDED(EMBER_EXPANDED)
#undef EMBER_EXPANDED

Value* Arithmetic::Transcendental(const Operation& op) {
  const bool is_here = target_.has_exponential && op.opcode == Opcode::kExp &&
                       op.type == DType::kF32;
  return is_here ? Function(op, llvm::Intrinsic::exp) : Replaced(op);
}

// --- classification

Value* Arithmetic::IsNan(const Operation& op) {
  return b_.CreateFCmpUNO(op.a, op.a);
}

Value* Arithmetic::IsInfinite(const Operation& op) {
  Value* a = Function(op, llvm::Intrinsic::fabs);
  return b_.CreateFCmpOEQ(a, llvm::ConstantFP::getInfinity(a->getType()));
}

// --- binary

Value* Arithmetic::Add(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFAdd(op.a, op.b)
                          : b_.CreateAdd(op.a, op.b);
}
Value* Arithmetic::Subtract(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFSub(op.a, op.b)
                          : b_.CreateSub(op.a, op.b);
}
Value* Arithmetic::Multiply(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFMul(op.a, op.b)
                          : b_.CreateMul(op.a, op.b);
}

Value* Arithmetic::Divided(const Operation& op, bool is_unsigned,
                           Instruction::BinaryOps operation) {
  if (!op.is_raw) return Replaced(op);
  // If the machine has no 64-bit integers, operands in this range are divided
  // in 32 bits. For signed operands it excludes -2^31, whose quotient by -1
  // needs 33 bits.
  const tensor::Interval range = is_unsigned
                                     ? tensor::Interval{0, UINT32_MAX}
                                     : tensor::Interval{-INT32_MAX, INT32_MAX};
  const bool is_short = op.type == DType::kI64 && op.range_a.Within(range) &&
                        op.range_b.Within(range);
  if (target_.has_long_integers || !is_short)
    return b_.CreateBinOp(operation, op.a, op.b);
  llvm::Type* const word = ShapedAs(b_.getInt32Ty(), op.a);
  return b_.CreateIntCast(b_.CreateBinOp(operation, b_.CreateTrunc(op.a, word),
                                         b_.CreateTrunc(op.b, word)),
                          op.a->getType(), !is_unsigned);
}

Value* Arithmetic::Divide(const Operation& op) {
  if (IsFloat(op.type)) return b_.CreateFDiv(op.a, op.b);
  return Divided(op, false, Instruction::SDiv);
}

Value* Arithmetic::Remainder(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  return Divided(op, false, Instruction::SRem);
}

// FloorDivide, and Modulo of integers: legalisation leaves raw divisions, and
// divisions by a constant power of two. The latter become a shift (FloorDivide)
// or a mask (Modulo).
Value* Arithmetic::FloorDivide(const Operation& op) {
  const auto shift = ConstantLog2(op.b);
  if (shift && !op.is_raw) return b_.CreateAShr(op.a, *shift);
  return Divided(op, true, Instruction::UDiv);
}

Value* Arithmetic::Modulo(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  if (!op.is_raw && ConstantLog2(op.b))
    return b_.CreateAnd(op.a, b_.CreateSub(op.b, Integer(op.b, 1)));
  return Divided(op, true, Instruction::URem);
}

Value* Arithmetic::Minimum(const Operation& op) {
  if (IsFloat(op.type) && op.is_raw) return b_.CreateMinNum(op.a, op.b);
  if (op.type == DType::kF32 && target_.has_nan_extremes)
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::minimum, op.a, op.b);
  if (IsFloat(op.type)) return Replaced(op);
  return b_.CreateBinaryIntrinsic(
      IsSigned(op.type) ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, op.a,
      op.b);
}

Value* Arithmetic::Maximum(const Operation& op) {
  if (IsFloat(op.type) && op.is_raw) return b_.CreateMaxNum(op.a, op.b);
  if (op.type == DType::kF32 && target_.has_nan_extremes)
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, op.a, op.b);
  if (IsFloat(op.type)) return Replaced(op);
  return b_.CreateBinaryIntrinsic(
      IsSigned(op.type) ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, op.a,
      op.b);
}

Value* Arithmetic::And(const Operation& op) { return b_.CreateAnd(op.a, op.b); }
Value* Arithmetic::Or(const Operation& op) { return b_.CreateOr(op.a, op.b); }
Value* Arithmetic::Xor(const Operation& op) { return b_.CreateXor(op.a, op.b); }

Value* Arithmetic::ShiftLeft(const Operation& op) {
  return op.is_raw ? b_.CreateShl(op.a, op.b) : Replaced(op);
}

Value* Arithmetic::ShiftRight(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  return IsSigned(op.type) ? b_.CreateAShr(op.a, op.b)
                           : b_.CreateLShr(op.a, op.b);
}

// --- comparisons

Value* Arithmetic::Equal(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFCmpOEQ(op.a, op.b)
                          : b_.CreateICmpEQ(op.a, op.b);
}
Value* Arithmetic::NotEqual(const Operation& op) {
  return IsFloat(op.type) ? b_.CreateFCmpUNE(op.a, op.b)
                          : b_.CreateICmpNE(op.a, op.b);
}
Value* Arithmetic::Less(const Operation& op) {
  if (IsFloat(op.type)) return b_.CreateFCmpOLT(op.a, op.b);
  return IsSigned(op.type) ? b_.CreateICmpSLT(op.a, op.b)
                           : b_.CreateICmpULT(op.a, op.b);
}
Value* Arithmetic::LessEqual(const Operation& op) {
  if (IsFloat(op.type)) return b_.CreateFCmpOLE(op.a, op.b);
  return IsSigned(op.type) ? b_.CreateICmpSLE(op.a, op.b)
                           : b_.CreateICmpULE(op.a, op.b);
}

}  // namespace ember::jit::llvm_ir
