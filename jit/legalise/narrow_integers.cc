#include "jit/legalise/narrow_integers.h"

#include <vector>

#include "jit/legalise/term.h"

namespace ember::jit::legalise {
namespace {

bool IsNarrow(DType type) { return IsInteger(type) && DTypeByteSize(type) < 4; }

// True if the instruction's result in 32 bits, for operands of the narrow type,
// needs no wrapping to be a value of the narrow type.
bool KeepsType(Opcode opcode, DType type) {
  switch (opcode) {
    case Opcode::kMinimum:
    case Opcode::kMaximum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftRight:
    case Opcode::kModulo:
    case Opcode::kRemainder:
      return true;
    case Opcode::kNot:
      return IsSigned(type);
    case Opcode::kDivide:
    case Opcode::kFloorDivide:
      // Signed quotients may leave the narrow type: -128 / -1 is 128.
      return !IsSigned(type);
    default:
      return false;
  }
}

}  // namespace

std::optional<NodeId> NarrowIntegers(Legaliser& legaliser,
                                     const Instruction& instruction) {
  const DType type = legaliser.TypeOf(instruction.operands[0]);
  if (legaliser.target().narrow_integers || !IsNarrow(type))
    return std::nullopt;
  if (instruction.opcode == Opcode::kBitcast) {
    if (!IsInteger(instruction.type)) return std::nullopt;
    return Cast(Term(legaliser, instruction.operands[0]), instruction.type)
        .id();
  }
  if (instruction.opcode == Opcode::kCast) return std::nullopt;
  const DType wide = IsSigned(type) ? DType::kI32 : DType::kU32;
  Instruction widened = instruction;
  for (NodeId& operand : widened.operands)
    operand = Cast(Term(legaliser, operand), wide).id();
  const bool gives_bool = instruction.type == DType::kBool;
  if (!gives_bool) widened.type = wide;
  const Term result(legaliser, legaliser.Make(widened));
  if (gives_bool) return result.id();
  const bool keeps_type =
      KeepsType(instruction.opcode, type) || instruction.is_raw;
  return (keeps_type ? RawCast(result, type) : Cast(result, type)).id();
}

}  // namespace ember::jit::legalise
