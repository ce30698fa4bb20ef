#include "jit/legalise/shifts.h"

#include "jit/legalise/term.h"

namespace ember::jit::legalise {
namespace {

DType WithoutSign(DType type) {
  switch (type) {
    case DType::kI8:
      return DType::kU8;
    case DType::kI16:
      return DType::kU16;
    case DType::kI32:
      return DType::kU32;
    case DType::kI64:
      return DType::kU64;
    default:
      return type;
  }
}

}  // namespace

std::optional<NodeId> Shifts(Legaliser& legaliser,
                             const Instruction& instruction) {
  const bool is_left = instruction.opcode == Opcode::kShiftLeft;
  if (!(is_left || instruction.opcode == Opcode::kShiftRight) ||
      instruction.is_raw)
    return std::nullopt;
  const Term a(legaliser, instruction.operands[0]);
  const Term b(legaliser, instruction.operands[1]);
  const int64_t bits = 8 * DTypeByteSize(a.type());
  if (legaliser.RangeOfInteger(b.id()).Within({0, bits - 1}))
    return Raw(instruction.opcode, a, b).id();
  const Term in_range = Cast(b, WithoutSign(b.type())) < bits;
  if (is_left || !IsSigned(a.type())) {
    return Select(in_range, Raw(instruction.opcode, a, b), a.Integer(0)).id();
  }
  return Raw(instruction.opcode, a, Select(in_range, b, b.Integer(bits - 1)))
      .id();
}

}  // namespace ember::jit::legalise
