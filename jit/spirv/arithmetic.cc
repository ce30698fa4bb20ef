#include "jit/spirv/arithmetic.h"

#include <bit>

#include "base/concat.h"
#include "jit/decline_reasons.h"
#include "jit/math/expand.h"

namespace ember::jit::spirv {

using tensor::Opcode;

namespace {

// Operands and results of integers below 32 bits are extended words.
bool IsUnsignedDivision(const Arithmetic::Operation& op) {
  return !IsSigned(op.type) || (op.range_a.low >= 0 && op.range_b.low >= 0);
}

}  // namespace

Value Arithmetic::Emit(Opcode opcode, const Operation& op) {
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

Value Arithmetic::MultiplyAdd(Value a, Value b, Value c, bool once) {
  if (once && target_.unfused_fma && target_.f64 && a.type == Scalar::kF32) {
    const auto wide = [&](Value x) {
      return c_.Unary(spv::Op::OpFConvert, Scalar::kF64, x);
    };
    const Value product =
        c_.Pure(spv::Op::OpFMul, Scalar::kF64, {wide(a).id, wide(b).id}, true);
    const Value sum =
        c_.Pure(spv::Op::OpFAdd, Scalar::kF64, {product.id, wide(c).id}, true);
    return c_.Unary(spv::Op::OpFConvert, Scalar::kF32, sum);
  }
  return c_.Pure(spv::Op::OpExtInst, a.type,
                 {c_.module().Library(), static_cast<uint32_t>(GLSLstd450Fma),
                  a.id, b.id, c.id});
}

Value Arithmetic::Unexpanded(const Operation& op, std::string_view name) {
  if (error_.ok()) {
    error_ = InternalError(Concat(
        {"expected functions to be expanded before code generation, found ",
         name, " of ", DTypeName(op.type)}));
  }
  return op.a;
}

Value Arithmetic::FloatRemainder(const Operation& op) {
  if (error_.ok())
    error_ = Decline(DeclineReason::kFloatRemainder, DTypeName(op.type));
  return op.a;
}

Value Arithmetic::FloatOperation(const Operation& op, spv::Op instruction) {
  // Quotients of f16 may be off by more than one of f32 that is rounded.
  if (op.type == DType::kF16 && convert_.has_halves() &&
      instruction != spv::Op::OpFDiv) {
    c_.module().Require(spv::Capability::Float16);
    const Value a = convert_.Half(op.a);
    const Value b = convert_.Half(op.b);
    return convert_.FromHalf(
        c_.Pure(instruction, Scalar::kF16, {a.id, b.id}, true));
  }
  return Fit(op, c_.Pure(instruction, op.a.type, {op.a.id, op.b.id}, true));
}

// --- unary

Value Arithmetic::Negate(const Operation& op) {
  if (IsFloat(op.type)) return c_.Unary(spv::Op::OpFNegate, op.a.type, op.a);
  return Fit(op, c_.Subtract(c_.Like(op.a, 0), op.a));
}

Value Arithmetic::Absolute(const Operation& op) {
  if (IsFloat(op.type)) return c_.Call(GLSLstd450FAbs, op.a);
  if (!IsSigned(op.type)) return op.a;
  return Fit(op, c_.Call(GLSLstd450SAbs, op.a));
}

Value Arithmetic::Sign(const Operation& op) {
  const Value zero = c_.Like(op.a, 0);
  if (!IsFloat(op.type)) {
    if (IsSigned(op.type)) return c_.Call(GLSLstd450SSign, op.a);
    return c_.Select(c_.Equal(op.a, zero), zero, c_.Like(op.a, 1));
  }
  // Zeros and NaNs as they are.
  const Value one = convert_.Cast(DType::kBool, op.type, c_.Bool(true));
  const Value minus_one = c_.Unary(spv::Op::OpFNegate, op.a.type, one);
  const Value result =
      c_.Select(c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, op.a, zero),
                minus_one, op.a);
  return c_.Select(
      c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, zero, op.a), one,
      result);
}

Value Arithmetic::Not(const Operation& op) {
  if (op.type == DType::kBool) return c_.Not(op.a);
  return Fit(op, c_.BitXor(op.a, c_.Like(op.a, -1)));
}

Value Arithmetic::Floor(const Operation& op) {
  return Fit(op, c_.Call(GLSLstd450Floor, op.a));
}
Value Arithmetic::Ceil(const Operation& op) {
  return Fit(op, c_.Call(GLSLstd450Ceil, op.a));
}

// Mesa's lavapipe 22.3 gives doubles back as they are, rounded or truncated;
// floor and ceil work.
Value Arithmetic::Round(const Operation& op) {
  if (op.type != DType::kF64)
    return Fit(op, c_.Call(GLSLstd450RoundEven, op.a));
  const auto float_op = [&](spv::Op instruction, Value a, Value b) {
    return c_.Pure(instruction, a.type, {a.id, b.id}, true);
  };
  const auto less = [&](Value a, Value b) {
    return c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, a, b);
  };
  const auto number = [&](double value) {
    return c_.Constant(Scalar::kF64, std::bit_cast<uint64_t>(value));
  };
  const Value below = c_.Call(GLSLstd450Floor, op.a);
  const Value above = float_op(spv::Op::OpFAdd, below, number(1));
  const Value rest = float_op(spv::Op::OpFSub, op.a, below);
  const Value half = float_op(spv::Op::OpFMul, below, number(0.5));
  const Value is_odd = less(c_.Call(GLSLstd450Floor, half), half);
  const Value is_tie =
      c_.Binary(spv::Op::OpFOrdEqual, Scalar::kBool, rest, number(0.5));
  const Value goes_up = c_.Or(less(number(0.5), rest), c_.And(is_tie, is_odd));
  const Value result = c_.Select(goes_up, above, below);
  // A zero has the sign of what it was.
  const Value is_zero =
      c_.Binary(spv::Op::OpFOrdEqual, Scalar::kBool, result, number(0));
  return c_.Select(is_zero, float_op(spv::Op::OpFMul, op.a, number(0)), result);
}

Value Arithmetic::Truncate(const Operation& op) {
  if (op.type != DType::kF64) return Fit(op, c_.Call(GLSLstd450Trunc, op.a));
  const Value is_negative =
      c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, op.a, c_.Like(op.a, 0));
  return c_.Select(is_negative, c_.Call(GLSLstd450Ceil, op.a),
                   c_.Call(GLSLstd450Floor, op.a));
}

Value Arithmetic::Sqrt(const Operation& op) {
  return Fit(op, c_.Call(GLSLstd450Sqrt, op.a));
}

// What jit/math replaces by other instructions.
#define EMBER_EXPANDED(name) \
  Value Arithmetic::name(const Operation& op) { return Unexpanded(op, #name); }
EMBER_FOR_EACH_EXPANDED(EMBER_EXPANDED)
#undef EMBER_EXPANDED

// --- classification

Value Arithmetic::IsNan(const Operation& op) {
  return c_.Unary(spv::Op::OpIsNan, Scalar::kBool, op.a);
}

Value Arithmetic::IsInfinite(const Operation& op) {
  return c_.Unary(spv::Op::OpIsInf, Scalar::kBool, op.a);
}

// --- binary

Value Arithmetic::Add(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFAdd);
  return Fit(op, c_.Add(op.a, op.b));
}
Value Arithmetic::Subtract(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFSub);
  return Fit(op, c_.Subtract(op.a, op.b));
}
Value Arithmetic::Multiply(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFMul);
  return Fit(op, c_.Multiply(op.a, op.b));
}

// b, but 1 where the division would be undefined.
Value Arithmetic::SafeDivisor(const Operation& op) {
  Value undefined = c_.Bool(false);
  if (op.range_b.Contains(0))
    undefined = c_.Or(undefined, c_.Equal(op.b, c_.Like(op.b, 0)));
  if (IsSigned(op.type) && op.range_b.Contains(-1))
    undefined = c_.Or(undefined, c_.Equal(op.b, c_.Like(op.b, -1)));
  return c_.Select(undefined, c_.Like(op.b, 1), op.b);
}

// Truncated; by 1 where SafeDivisor is.
Value Arithmetic::Quotient(const Operation& op) {
  const Value divisor = SafeDivisor(op);
  if (c_.IsKnown(divisor, 1)) return op.a;
  const auto known = c_.Known(divisor);
  if (IsUnsignedDivision(op)) {
    if (known && std::has_single_bit(*known))
      return c_.ShiftRight(op.a, c_.Like(op.a, std::countr_zero(*known)));
    return c_.Binary(spv::Op::OpUDiv, op.a.type, op.a, divisor);
  }
  return c_.Binary(spv::Op::OpSDiv, op.a.type, op.a, divisor);
}

Value Arithmetic::Divide(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFDiv);
  Value quotient = Quotient(op);
  if (IsSigned(op.type) && op.range_b.Contains(-1)) {
    quotient = c_.Select(c_.Equal(op.b, c_.Like(op.b, -1)),
                         c_.Subtract(c_.Like(op.a, 0), op.a), quotient);
  }
  if (op.range_b.Contains(0)) {
    const Value zero = c_.Like(op.b, 0);
    quotient = c_.Select(c_.Equal(op.b, zero), zero, quotient);
  }
  return Fit(op, quotient);
}

// By a product: Vulkan defines remainders of negative operands only since
// VK_KHR_maintenance8.
Value Arithmetic::Remainder(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  const Value divisor = SafeDivisor(op);
  const auto known = c_.Known(divisor);
  if (known && IsUnsignedDivision(op) && std::has_single_bit(*known))
    return c_.BitAnd(op.a, c_.Like(op.a, static_cast<int64_t>(*known) - 1));
  if (IsUnsignedDivision(op))
    return c_.Binary(spv::Op::OpUMod, op.a.type, op.a, divisor);
  return c_.Subtract(op.a, c_.Multiply(Quotient(op), divisor));
}

// Whether a remainder is one of a quotient rounded down: it is 0 or has the
// divisor's sign.
Value Arithmetic::RemainderFits(const Operation& op, Value remainder) {
  const Value zero = c_.Like(remainder, 0);
  const Value other_sign = c_.Less(c_.BitXor(remainder, op.b), zero, true);
  return c_.Or(c_.Equal(remainder, zero), c_.Not(other_sign));
}

Value Arithmetic::FloorDivide(const Operation& op) {
  if (IsUnsignedDivision(op)) return Divide(op);
  const auto known = c_.KnownInteger(op.b);
  if (known && *known > 0 && std::has_single_bit(static_cast<uint64_t>(*known)))
    return c_.Binary(
        spv::Op::OpShiftRightArithmetic, op.a.type, op.a,
        c_.Like(op.a, std::countr_zero(static_cast<uint64_t>(*known))));
  const Value quotient = Divide(op);
  const Value fits = RemainderFits(op, Remainder(op));
  return c_.Select(fits, quotient,
                   Fit(op, c_.Subtract(quotient, c_.Like(quotient, 1))));
}

Value Arithmetic::Modulo(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  if (IsUnsignedDivision(op)) return Remainder(op);
  const auto known = c_.KnownInteger(op.b);
  if (known && *known > 0 && std::has_single_bit(static_cast<uint64_t>(*known)))
    return c_.BitAnd(op.a, c_.Like(op.a, *known - 1));
  const Value remainder = Remainder(op);
  return c_.Select(RemainderFits(op, remainder), remainder,
                   Fit(op, c_.Add(remainder, op.b)));
}

Value Arithmetic::FloatExtreme(const Operation& op, Value b_is_beyond) {
  const Value result = c_.Select(b_is_beyond, op.b, op.a);
  return c_.Select(
      c_.Unary(spv::Op::OpIsNan, Scalar::kBool, op.b),
      c_.Select(c_.Unary(spv::Op::OpIsNan, Scalar::kBool, op.a), op.a, op.b),
      result);
}

Value Arithmetic::Minimum(const Operation& op) {
  if (op.type == DType::kBool) return c_.And(op.a, op.b);
  if (IsFloat(op.type)) {
    return FloatExtreme(
        op, c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, op.b, op.a));
  }
  return c_.Call(IsSigned(op.type) ? GLSLstd450SMin : GLSLstd450UMin, op.a,
                 op.b);
}

Value Arithmetic::Maximum(const Operation& op) {
  if (op.type == DType::kBool) return c_.Or(op.a, op.b);
  if (IsFloat(op.type)) {
    return FloatExtreme(
        op, c_.Binary(spv::Op::OpFOrdLessThan, Scalar::kBool, op.a, op.b));
  }
  return c_.Call(IsSigned(op.type) ? GLSLstd450SMax : GLSLstd450UMax, op.a,
                 op.b);
}

Value Arithmetic::And(const Operation& op) {
  return op.type == DType::kBool ? c_.And(op.a, op.b) : c_.BitAnd(op.a, op.b);
}
Value Arithmetic::Or(const Operation& op) {
  return op.type == DType::kBool ? c_.Or(op.a, op.b) : c_.BitOr(op.a, op.b);
}
Value Arithmetic::Xor(const Operation& op) {
  if (op.type != DType::kBool) return c_.BitXor(op.a, op.b);
  return c_.Binary(spv::Op::OpLogicalNotEqual, Scalar::kBool, op.a, op.b);
}

Value Arithmetic::InShiftRange(const Operation& op) {
  return c_.Less(op.b, c_.Like(op.b, 8 * DTypeByteSize(op.type)), false);
}

Value Arithmetic::ShiftLeft(const Operation& op) {
  const Value in_range = InShiftRange(op);
  const Value zero = c_.Like(op.a, 0);
  const Value shifted =
      c_.ShiftLeft(op.a, c_.Select(in_range, op.b, c_.Like(op.b, 0)));
  return c_.Select(in_range, Fit(op, shifted), zero);
}

Value Arithmetic::ShiftRight(const Operation& op) {
  const Value in_range = InShiftRange(op);
  if (!IsSigned(op.type)) {
    const Value shift = c_.Select(in_range, op.b, c_.Like(op.b, 0));
    return c_.Select(in_range, c_.ShiftRight(op.a, shift), c_.Like(op.a, 0));
  }
  const Value last = c_.Like(op.b, 8 * DTypeByteSize(op.type) - 1);
  return c_.Binary(spv::Op::OpShiftRightArithmetic, op.a.type, op.a,
                   c_.Select(in_range, op.b, last));
}

// --- comparisons

Value Arithmetic::Equal(const Operation& op) {
  if (IsFloat(op.type)) return FloatComparison(op, spv::Op::OpFOrdEqual);
  if (op.type == DType::kBool)
    return FloatComparison(op, spv::Op::OpLogicalEqual);
  return c_.Equal(op.a, op.b);
}
Value Arithmetic::NotEqual(const Operation& op) {
  if (IsFloat(op.type)) return FloatComparison(op, spv::Op::OpFUnordNotEqual);
  return op.type == DType::kBool ? Xor(op) : c_.Not(c_.Equal(op.a, op.b));
}
Value Arithmetic::Less(const Operation& op) {
  if (IsFloat(op.type)) return FloatComparison(op, spv::Op::OpFOrdLessThan);
  if (op.type == DType::kBool) return c_.And(c_.Not(op.a), op.b);
  return c_.Less(op.a, op.b, IsSigned(op.type));
}
Value Arithmetic::LessEqual(const Operation& op) {
  if (IsFloat(op.type))
    return FloatComparison(op, spv::Op::OpFOrdLessThanEqual);
  if (op.type == DType::kBool) return c_.Or(c_.Not(op.a), op.b);
  return c_.LessEqual(op.a, op.b, IsSigned(op.type));
}

}  // namespace ember::jit::spirv
