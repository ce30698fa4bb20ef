#include "jit/legalise/legaliser.h"

#include <algorithm>

#include "jit/loops/raw.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::jit::legalise {

using tensor::InstructionGroup;
using tensor::Interval;

NodeId Legaliser::Make(const Instruction& instruction) {
  if (const std::optional<NodeId> folded = Fold(instruction)) return *folded;
  for (const RuleRow& row : rules_) {
    if (const std::optional<NodeId> node = row.rule(*this, instruction))
      return *node;
  }
  return pool_.Intern(instruction.opcode, instruction.type,
                      instruction.operands,
                      instruction.is_raw ? loops::kRaw : 0);
}

Interval Legaliser::RangeOfInteger(NodeId id) const {
  const tensor::Node& node = pool_[id];
  if (pool_.IsConstant(id))
    return tensor::RangeOfConstant(node.immediate, node.type);
  if (node.type == DType::kI64) return range_of_(id);
  const Interval type = tensor::RangeOfType(node.type);
  if (node.opcode != Opcode::kCast || !IsInteger(TypeOf(node.operands[0])))
    return type;
  // A cast keeps values that the type can represent, so their range stays.
  const Interval operand = RangeOfInteger(node.operands[0]);
  return operand.Within(type) ? operand : type;
}

// Returns a simpler node for a select whose condition is known or whose two
// values are equal, for a cast to the same type, for `and` and `or` with a
// constant bool, and for an operation on constants; nullopt for others.
// Operations on float constants are evaluated only if their result is exact, as
// that of a comparison is; the rules for floats need no more.
std::optional<NodeId> Legaliser::Fold(const Instruction& instruction) {
  const std::vector<NodeId>& operands = instruction.operands;
  const DType type = TypeOf(operands[0]);
  if (instruction.opcode == Opcode::kSelect) {
    const std::optional<int64_t> condition = IntegerConstant(operands[0]);
    if (condition) return operands[*condition != 0 ? 1 : 2];
    if (operands[1] == operands[2]) return operands[1];
    return std::nullopt;
  }
  const bool converts = instruction.opcode == Opcode::kCast ||
                        instruction.opcode == Opcode::kBitcast;
  if (converts && type == instruction.type) return operands[0];
  if (type == DType::kBool && operands.size() == 2 &&
      (instruction.opcode == Opcode::kAnd ||
       instruction.opcode == Opcode::kOr)) {
    // `and` and `or` with one constant operand: the result is that constant, or
    // the other operand.
    for (size_t i = 0; i < 2; ++i) {
      const std::optional<int64_t> known = IntegerConstant(operands[i]);
      if (!known) continue;
      const bool decides = (*known != 0) == (instruction.opcode == Opcode::kOr);
      return operands[decides ? i : 1 - i];
    }
  }
  if (!std::ranges::all_of(operands, [&](NodeId o) { return IsConstant(o); }))
    return std::nullopt;
  const InstructionGroup group = tensor::InfoOf(instruction.opcode).group;
  const bool is_exact = !IsFloat(type) || converts ||
                        instruction.opcode == Opcode::kNegate ||
                        instruction.opcode == Opcode::kAbsolute ||
                        group == InstructionGroup::kClassify ||
                        group == InstructionGroup::kCompare;
  if (!is_exact) return std::nullopt;
  const tensor::ScalarOperands bits = {
      pool_[operands[0]].immediate,
      operands.size() > 1 ? pool_[operands[1]].immediate : 0};
  if (!instruction.is_raw) {
    return Constant(tensor::EvaluateScalar(instruction.opcode, type,
                                           instruction.type, bits),
                    instruction.type);
  }
  const StatusOr<uint64_t> value =
      loops::EvaluateRaw(instruction.opcode, type, instruction.type, bits);
  if (!value.ok()) return std::nullopt;
  return Constant(*value, instruction.type);
}

}  // namespace ember::jit::legalise
