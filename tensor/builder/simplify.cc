#include "tensor/builder/simplify.h"

#include <algorithm>

#include "base/check.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/symbolic_division.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::tensor {
namespace {

// True for instructions that give the same float result on every back end, so
// that constants may be folded.
bool IsExactForFloats(Opcode opcode) {
  switch (opcode) {
    case Opcode::kNegate:
    case Opcode::kAbsolute:
    case Opcode::kSign:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
    case Opcode::kSqrt:
    case Opcode::kIsNan:
    case Opcode::kIsInfinite:
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kDivide:
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kEqual:
    case Opcode::kNotEqual:
    case Opcode::kLess:
    case Opcode::kLessEqual:
    case Opcode::kSelect:
    case Opcode::kCast:
    case Opcode::kBitcast:
      return true;
    default:
      return false;
  }
}

bool IsCommutative(Opcode opcode, DType operand_type) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kEqual:
    case Opcode::kNotEqual:
      return true;
    case Opcode::kMinimum:
    // Minimum and maximum commute for integers only. For floats the order of
    // the operands decides the result for +0 and -0, and for two NaNs.
    case Opcode::kMaximum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return !IsFloat(operand_type);
    default:
      return false;
  }
}

// True if every value of `narrow` is known to be a value of `wide`. False if
// one type is a float and the other is not.
bool Embeds(DType narrow, DType wide) {
  if (narrow == wide) return true;
  if (IsFloat(narrow) != IsFloat(wide) || narrow == DType::kU64) return false;
  if (!IsFloat(narrow)) {
    return wide != DType::kU64 ? RangeOfType(narrow).Within(RangeOfType(wide))
                               : !IsSigned(narrow);
  }
  return wide == DType::kF64 || (wide == DType::kF32 && narrow != DType::kF64);
}

}  // namespace

NodeId Simplifier::Integer(int64_t value, DType type) {
  return pool_.Constant(IntegerToBits(value, type), type);
}

NodeId Simplifier::Raw(Opcode opcode, DType type, NodeId a, NodeId b) {
  const NodeId operands[] = {a, b};
  return pool_.Intern(opcode, type, operands);
}

bool Simplifier::FoldsToConstant(Opcode opcode,
                                 std::span<const NodeId> operands) const {
  for (NodeId operand : operands) {
    if (!pool_.IsConstant(operand)) return false;
  }
  return !operands.empty() &&
         (!IsFloat(pool_[operands[0]].type) || IsExactForFloats(opcode));
}

NodeId Simplifier::Fold(Opcode opcode, DType type,
                        std::span<const NodeId> operands) {
  ScalarOperands values;
  values.a = pool_[operands[0]].immediate;
  if (operands.size() > 1) values.b = pool_[operands[1]].immediate;
  if (operands.size() > 2) values.c = pool_[operands[2]].immediate;
  return pool_.Constant(
      EvaluateScalar(opcode, pool_[operands[0]].type, type, values), type);
}

NodeId Simplifier::Make(Opcode opcode, DType type,
                        std::span<const NodeId> operands) {
  if (FoldsToConstant(opcode, operands)) return Fold(opcode, type, operands);
  switch (InfoOf(opcode).group) {
    case InstructionGroup::kUnary:
      return Unary(opcode, type, operands[0]);
    case InstructionGroup::kBinary:
      return Binary(opcode, type, operands[0], operands[1]);
    case InstructionGroup::kCompare:
      return Compare(opcode, operands[0], operands[1]);
    case InstructionGroup::kClassify:
      break;
    case InstructionGroup::kStructural:
      if (opcode == Opcode::kCast || opcode == Opcode::kBitcast) {
        return Conversion(opcode, type, operands[0]);
      }
      if (opcode == Opcode::kSelect) {
        if (operands[1] == operands[2]) return operands[1];
        if (const std::optional<int64_t> condition =
                pool_.IntegerConstant(operands[0])) {
          return operands[*condition != 0 ? 1 : 2];
        }
      }
      break;
  }
  return pool_.Intern(opcode, type, operands);
}

// True if the operands should be swapped for the canonical form: a constant
// becomes the right operand, and other integer operands have a fixed order.
// Float operands keep their order unless one is a constant.
bool Simplifier::Swaps(Opcode opcode, DType type, NodeId a, NodeId b) const {
  if (!IsCommutative(opcode, type)) return false;
  if (pool_.IsConstant(a) || pool_.IsConstant(b)) return !pool_.IsConstant(b);
  return !IsFloat(type) && pool_.Precedes(b, a);
}

NodeId Simplifier::Unary(Opcode opcode, DType type, NodeId a) {
  const Node& node = pool_[a];
  const bool undoes = opcode == Opcode::kNegate || opcode == Opcode::kNot;
  if (undoes && node.opcode == opcode) return node.operands[0];
  const NodeId operands[] = {a};
  if (opcode == Opcode::kNegate && type == DType::kI64) {
    if (const std::optional<LinearSum> sum = Linearize(pool_, a)) {
      LinearSum negated;
      AddLinear(negated, *sum, -1);
      return BuildLinear(pool_, negated);
    }
  }
  return pool_.Intern(opcode, type, operands);
}

NodeId Simplifier::Conversion(Opcode opcode, DType type, NodeId a) {
  const Node& node = pool_[a];
  if (node.type == type) return a;
  if (node.opcode == opcode) {
    // A cast to a type that represents all values, followed by a cast back, is
    // removed.
    const NodeId inner = node.operands[0];
    const DType inner_type = pool_[inner].type;
    if (inner_type == type &&
        (opcode == Opcode::kBitcast || Embeds(type, node.type)))
      return inner;
  }
  const NodeId operands[] = {a};
  return pool_.Intern(opcode, type, operands);
}

NodeId Simplifier::Binary(Opcode opcode, DType type, NodeId a, NodeId b) {
  if (Swaps(opcode, type, a, b)) std::swap(a, b);
  return IsFloat(type) ? FloatBinary(opcode, type, a, b)
                       : IntegerBinary(opcode, type, a, b);
}

NodeId Simplifier::FloatBinary(Opcode opcode, DType type, NodeId a, NodeId b) {
  if (!pool_.IsConstant(b)) return Raw(opcode, type, a, b);
  const uint64_t bits = pool_[b].immediate;
  const bool is_one = bits == OneBits(type);
  const bool is_zero = bits == 0;
  const bool is_minus_zero = bits == DoubleToBits(-0.0, type);
  switch (opcode) {
    case Opcode::kMultiply:
    case Opcode::kDivide:
      if (is_one) return a;
      break;
    case Opcode::kAdd:
      if (is_minus_zero) return a;  // x + -0 is x for every x, but -0 + 0 is +0
      break;
    case Opcode::kSubtract:
      if (is_zero) return a;
      break;
    default:
      break;
  }
  return Raw(opcode, type, a, b);
}

NodeId Simplifier::Product(DType type, NodeId a, NodeId b) {
  if (const std::optional<int64_t> factor = pool_.IntegerConstant(b)) {
    if (*factor == 0) return b;
    if (*factor == 1) return a;
    if (type == DType::kI64) {
      if (const std::optional<LinearSum> sum = Linearize(pool_, a)) {
        LinearSum product;
        AddLinear(product, *sum, *factor);
        return BuildLinear(pool_, product);
      }
    }
    // (x * c) * d becomes x * (c * d), so that repeated multiplication by
    // constants does not make the expression longer.
    const Node& node = pool_[a];
    if (node.opcode == Opcode::kMultiply &&
        pool_.IsConstant(node.operands[1])) {
      const NodeId other = node.operands[0];
      const uint64_t both = EvaluateScalar(
          Opcode::kMultiply, type, type,
          {pool_[node.operands[1]].immediate, pool_[b].immediate, 0});
      return Product(type, other, pool_.Constant(both, type));
    }
    return Raw(Opcode::kMultiply, type, a, b);
  }
  // A constant factor moves out of a nested product, so that the code for sums
  // recognises it as a coefficient.
  for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
    const Node& node = pool_[x];
    if (node.opcode == Opcode::kMultiply &&
        pool_.IsConstant(node.operands[1])) {
      const NodeId factor = node.operands[1];
      return Product(type, Product(type, node.operands[0], y), factor);
    }
  }
  if (pool_.Precedes(b, a)) std::swap(a, b);
  return Raw(Opcode::kMultiply, type, a, b);
}

NodeId Simplifier::IntegerBinary(Opcode opcode, DType type, NodeId a,
                                 NodeId b) {
  const std::optional<int64_t> constant = pool_.IntegerConstant(b);
  const Interval left = pool_[a].range, right = pool_[b].range;
  const bool ordered =
      type != DType::kU64;  // Rules that compare ranges do not apply to u64,
                            // whose large values the signed ranges cannot
                            // represent.
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
      if (constant == 0) return a;
      if (type == DType::kI64) {
        const std::optional<LinearSum> x = Linearize(pool_, a),
                                       y = Linearize(pool_, b);
        if (!x || !y || x->terms.size() + y->terms.size() > 24) break;
        LinearSum sum = *x;
        AddLinear(sum, *y, opcode == Opcode::kAdd ? 1 : -1);
        return BuildLinear(pool_, sum);
      }
      if (opcode == Opcode::kSubtract && a == b) return Integer(0, type);
      break;
    case Opcode::kMultiply:
      return Product(type, a, b);
    case Opcode::kDivide:
      if (constant == 1) return a;
      if (type == DType::kI64 && constant > 0 && left.low >= 0) {
        return BuildFloorDivide(pool_, a, *constant);
      }
      break;
    case Opcode::kFloorDivide:
      if (constant == 1) return a;
      if (type == DType::kI64 && constant > 0)
        return BuildFloorDivide(pool_, a, *constant);
      if (type == DType::kI64 && !constant) {
        if (const auto parts = DivideSymbolically(pool_, a, b))
          return parts->quotient;
      }
      break;
    case Opcode::kModulo:
      if (constant == 1) return Integer(0, type);
      if (type == DType::kI64 && constant > 0)
        return BuildModulo(pool_, a, *constant);
      if (type == DType::kI64 && !constant) {
        if (const auto parts = DivideSymbolically(pool_, a, b))
          return parts->remainder;
      }
      break;
    case Opcode::kMinimum:
    case Opcode::kMaximum:
      if (a == b) return a;
      if (ordered && left.high <= right.low)
        return opcode == Opcode::kMinimum ? a : b;
      if (ordered && right.high <= left.low)
        return opcode == Opcode::kMinimum ? b : a;
      break;
    case Opcode::kAnd:
      if (a == b) return a;
      if (constant == 0) return b;
      if (type == DType::kBool && constant == 1) return a;
      break;
    case Opcode::kOr:
      if (a == b || constant == 0) return a;
      if (type == DType::kBool && constant == 1) return b;
      break;
    case Opcode::kXor:
      if (constant == 0) return a;
      break;
    default:
      break;
  }
  return Raw(opcode, type, a, b);
}

NodeId Simplifier::Compare(Opcode opcode, NodeId a, NodeId b) {
  const DType type = pool_[a].type;
  if (Swaps(opcode, type, a, b)) std::swap(a, b);
  const auto truth = [&](bool value) { return Integer(value, DType::kBool); };
  if (!IsFloat(type)) {
    if (a == b)
      return truth(opcode == Opcode::kEqual || opcode == Opcode::kLessEqual);
    const Interval left = pool_[a].range, right = pool_[b].range;
    const bool apart = left.high < right.low || right.high < left.low;
    if (type == DType::kU64) return Raw(opcode, DType::kBool, a, b);
    if (opcode == Opcode::kEqual && apart) return truth(false);
    if (opcode == Opcode::kNotEqual && apart) return truth(true);
    if (opcode == Opcode::kLess && left.high < right.low) return truth(true);
    if (opcode == Opcode::kLess && left.low >= right.high) return truth(false);
    if (opcode == Opcode::kLessEqual && left.high <= right.low)
      return truth(true);
    if (opcode == Opcode::kLessEqual && left.low > right.high)
      return truth(false);
  }
  return Raw(opcode, DType::kBool, a, b);
}

bool ProvablyInBounds(const ExpressionPool& pool, NodeId index, NodeId extent) {
  const Interval range = pool[index].range;
  if (range.low < 0) return false;
  if (range.high < pool[extent].range.low) return true;
  // An axis as index is in bounds if the axis's extent, which is its operand,
  // is the buffer's extent.
  const Node& node = pool[index];
  return node.opcode == Opcode::kAxis && !node.operands.empty() &&
         node.operands[0] == extent;
}

}  // namespace ember::tensor
