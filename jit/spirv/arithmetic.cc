#include "jit/spirv/arithmetic.h"

#include <bit>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/loops/raw.h"
#include "jit/math/expand.h"
#include "tensor/update.h"

namespace ember::jit::spirv {

using tensor::Opcode;

Value Arithmetic::Emit(const Operation& op) {
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

Value Arithmetic::EmitNode(const tensor::ExpressionPool& pool,
                           const tensor::Node& node,
                           std::span<const Value> operands) {
  const DType type = pool[node.operands[0]].type;
  switch (node.opcode) {
    case Opcode::kSelect:
      return c_.Select(operands[0], operands[1], operands[2]);
    case Opcode::kCast:
      return convert_.Cast(type, node.type, loops::IsRaw(node), operands[0]);
    case Opcode::kBitcast:
      return convert_.Bitcast(node.type, operands[0]);
    default:
      return Emit({.opcode = node.opcode,
                   .is_raw = loops::IsRaw(node),
                   .type = type,
                   .a = operands.front(),
                   .b = operands.back()});
  }
}

Value Arithmetic::EmitUpdate(tensor::Update update, DType type, Value a,
                             Value b) {
  const auto key = std::pair(update, type);
  auto known = formulas_.find(key);
  if (known == formulas_.end()) {
    known =
        formulas_
            .emplace(key, legalise::MakeFormula(tensor::OpcodeOf(update), type,
                                                OperationsOf(target_)))
            .first;
  }
  const legalise::Formula& formula = known->second;
  std::map<tensor::NodeId, Value> values = {{formula.a, a}, {formula.b, b}};
  for (tensor::NodeId id : formula.order) {
    const tensor::Node& node = formula.pool[id];
    std::vector<Value> operands;
    for (tensor::NodeId operand : node.operands)
      operands.push_back(values.at(operand));
    values[id] = node.opcode == Opcode::kConstant
                     ? convert_.Constant(node.type, node.immediate)
                     : EmitNode(formula.pool, node, operands);
  }
  return values.at(formula.result);
}

Value Arithmetic::MultiplyAdd(Value a, Value b, Value c, bool once) {
  if (once) {
    const auto wide = [&](Value x) { return c_.ConvertFloat(Scalar::kF64, x); };
    const Value product =
        c_.Pure(spv::Op::OpFMul, Scalar::kF64, {wide(a).id, wide(b).id}, true);
    const Value sum =
        c_.Pure(spv::Op::OpFAdd, Scalar::kF64, {product.id, wide(c).id}, true);
    return c_.ConvertFloat(Scalar::kF32, sum);
  }
  return c_.Pure(spv::Op::OpExtInst, a.type,
                 {c_.module().Library(), static_cast<uint32_t>(GLSLstd450Fma),
                  a.id, b.id, c.id});
}

Value Arithmetic::Replaced(const Operation& op) {
  if (error_.ok()) {
    error_ = InternalError(
        Concat({"expected what jit/math and jit/legalise leave, found ",
                (op.is_raw ? "raw " : ""), tensor::InfoOf(op.opcode).text,
                " of ", DTypeName(op.type)}));
  }
  return op.a;
}

Value Arithmetic::FloatRemainder(const Operation& op) {
  if (error_.ok())
    error_ = Decline(DeclineReason::kFloatRemainder, DTypeName(op.type));
  return op.a;
}

Value Arithmetic::FloatOperation(const Operation& op, spv::Op instruction) {
  if (op.type != DType::kF16)
    return c_.Pure(instruction, op.a.type, {op.a.id, op.b.id}, true);
  c_.module().Require(spv::Capability::Float16);
  const Value a = convert_.Half(op.a);
  const Value b = convert_.Half(op.b);
  return convert_.FromHalf(
      c_.Pure(instruction, Scalar::kF16, {a.id, b.id}, true));
}

// --- unary

Value Arithmetic::Negate(const Operation& op) {
  if (IsFloat(op.type)) return c_.Unary(spv::Op::OpFNegate, op.a.type, op.a);
  return c_.Subtract(c_.Like(op.a, 0), op.a);
}

Value Arithmetic::Absolute(const Operation& op) {
  return c_.Call(IsFloat(op.type) ? GLSLstd450FAbs : GLSLstd450SAbs, op.a);
}

Value Arithmetic::Sign(const Operation& op) { return Replaced(op); }

Value Arithmetic::Not(const Operation& op) {
  if (op.type == DType::kBool) return c_.Not(op.a);
  return c_.BitXor(op.a, c_.Like(op.a, -1));
}

Value Arithmetic::Floor(const Operation& op) {
  return c_.Call(GLSLstd450Floor, op.a);
}
Value Arithmetic::Ceil(const Operation& op) {
  return c_.Call(GLSLstd450Ceil, op.a);
}
Value Arithmetic::Round(const Operation& op) {
  return c_.Call(GLSLstd450RoundEven, op.a);
}
Value Arithmetic::Truncate(const Operation& op) {
  return c_.Call(GLSLstd450Trunc, op.a);
}
Value Arithmetic::Sqrt(const Operation& op) {
  return c_.Call(GLSLstd450Sqrt, op.a);
}

// Transcendental functions that jit/math expands: legalisation has replaced
// them, so emitting one is an error.
#define EMBER_EXPANDED(name) \
  Value Arithmetic::name(const Operation& op) { return Replaced(op); }
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
  return c_.Add(op.a, op.b);
}
Value Arithmetic::Subtract(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFSub);
  return c_.Subtract(op.a, op.b);
}
Value Arithmetic::Multiply(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFMul);
  return c_.Multiply(op.a, op.b);
}

Value Arithmetic::Divide(const Operation& op) {
  if (IsFloat(op.type)) return FloatOperation(op, spv::Op::OpFDiv);
  if (!op.is_raw) return Replaced(op);
  return c_.Binary(spv::Op::OpSDiv, op.a.type, op.a, op.b);
}

Value Arithmetic::Remainder(const Operation& op) {
  return IsFloat(op.type) ? FloatRemainder(op) : Replaced(op);
}

// A division by a constant power of two becomes a shift, raw or not. Any other
// division must be raw, and is unsigned, since raw operands are not negative.
Value Arithmetic::FloorDivide(const Operation& op) {
  const auto known = c_.Known(op.b);
  if (known && std::has_single_bit(*known)) {
    const Value shift = c_.Like(op.a, std::countr_zero(*known));
    if (op.is_raw) return c_.ShiftRight(op.a, shift);
    return c_.Binary(spv::Op::OpShiftRightArithmetic, op.a.type, op.a, shift);
  }
  if (!op.is_raw) return Replaced(op);
  return c_.Binary(spv::Op::OpUDiv, op.a.type, op.a, op.b);
}

Value Arithmetic::Modulo(const Operation& op) {
  if (IsFloat(op.type)) return FloatRemainder(op);
  const auto known = c_.Known(op.b);
  if (known && std::has_single_bit(*known))
    return c_.BitAnd(op.a, c_.Like(op.a, static_cast<int64_t>(*known) - 1));
  if (!op.is_raw) return Replaced(op);
  return c_.Binary(spv::Op::OpUMod, op.a.type, op.a, op.b);
}

Value Arithmetic::Minimum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
  return c_.Call(IsSigned(op.type) ? GLSLstd450SMin : GLSLstd450UMin, op.a,
                 op.b);
}

Value Arithmetic::Maximum(const Operation& op) {
  if (IsFloat(op.type)) return Replaced(op);
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
  return Comparison(op, spv::Op::OpLogicalNotEqual);
}

Value Arithmetic::ShiftLeft(const Operation& op) {
  return op.is_raw ? c_.ShiftLeft(op.a, op.b) : Replaced(op);
}

Value Arithmetic::ShiftRight(const Operation& op) {
  if (!op.is_raw) return Replaced(op);
  if (!IsSigned(op.type)) return c_.ShiftRight(op.a, op.b);
  return c_.Binary(spv::Op::OpShiftRightArithmetic, op.a.type, op.a, op.b);
}

// --- comparisons

Value Arithmetic::Equal(const Operation& op) {
  if (IsFloat(op.type)) return Comparison(op, spv::Op::OpFOrdEqual);
  if (op.type == DType::kBool) return Comparison(op, spv::Op::OpLogicalEqual);
  return c_.Equal(op.a, op.b);
}
Value Arithmetic::NotEqual(const Operation& op) {
  if (IsFloat(op.type)) return Comparison(op, spv::Op::OpFUnordNotEqual);
  return c_.Not(c_.Equal(op.a, op.b));
}
Value Arithmetic::Less(const Operation& op) {
  if (IsFloat(op.type)) return Comparison(op, spv::Op::OpFOrdLessThan);
  return c_.Less(op.a, op.b, IsSigned(op.type));
}
Value Arithmetic::LessEqual(const Operation& op) {
  if (IsFloat(op.type)) return Comparison(op, spv::Op::OpFOrdLessThanEqual);
  return c_.LessEqual(op.a, op.b, IsSigned(op.type));
}

}  // namespace ember::jit::spirv
