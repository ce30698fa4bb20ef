#include "jit/legalise/signs.h"

#include "jit/legalise/term.h"

namespace ember::jit::legalise {

std::optional<NodeId> Signs(Legaliser& legaliser,
                            const Instruction& instruction) {
  const Term a(legaliser, instruction.operands[0]);
  const DType type = instruction.type;
  if (instruction.opcode == Opcode::kAbsolute && IsInteger(type) &&
      !IsSigned(type))
    return a.id();
  if (instruction.opcode != Opcode::kSign) return std::nullopt;
  const Term zero = a.Number(0);
  if (IsFloat(type)) {
    // For a zero or a NaN, sign returns the operand itself.
    const Term result = Select(a < zero, a.Number(-1), a);
    return Select(zero < a, a.Number(1), result).id();
  }
  if (!IsSigned(type)) return Cast(a != zero, type).id();
  return Select(a < zero, a.Integer(-1), Cast(zero < a, type)).id();
}

}  // namespace ember::jit::legalise
