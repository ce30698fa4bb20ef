#include "jit/legalise/narrow_floats.h"

#include "jit/legalise/term.h"

namespace ember::jit::legalise {
namespace {

// True if the instruction's result in f32, for operands of the narrow type,
// needs no rounding to be a value of the narrow type.
bool KeepsType(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kNegate:
    case Opcode::kAbsolute:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
      return true;
    default:
      // The only raw instructions on narrow floats are min and max, whose
      // result is an operand.
      return instruction.is_raw;
  }
}

// Returns neg or abs of a narrow float, computed on its bits.
Term ChangeSign(Term a, Opcode opcode) {
  const bool is_byte = DTypeByteSize(a.type()) == 1;
  const Term bits = Bitcast(a, is_byte ? DType::kU8 : DType::kU16);
  const int64_t sign = is_byte ? 0x80 : 0x8000;
  return Bitcast(opcode == Opcode::kNegate ? bits ^ sign : bits & (sign - 1),
                 a.type());
}

}  // namespace

std::optional<NodeId> NarrowFloats(Legaliser& legaliser,
                                   const Instruction& instruction) {
  const TargetOperations& target = legaliser.target();
  const DType type = legaliser.TypeOf(instruction.operands[0]);
  if (!IsNarrowFloat(type)) return std::nullopt;
  const bool is_half = type == DType::kF16;
  switch (instruction.opcode) {
    case Opcode::kCast:
    case Opcode::kBitcast:
    // No target has mod and rem of narrow floats; back ends decline them.
    case Opcode::kModulo:
    case Opcode::kRemainder:
      return std::nullopt;
    case Opcode::kNegate:
    case Opcode::kAbsolute:
      if (target.wide_halves && DTypeByteSize(type) == 2) break;
      if (is_half && target.half_conversions) return std::nullopt;
      return ChangeSign(Term(legaliser, instruction.operands[0]),
                        instruction.opcode)
          .id();
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
      if (is_half && target.half_sums) return std::nullopt;
      break;
    default:
      break;
  }
  Instruction widened = instruction;
  for (NodeId& operand : widened.operands)
    operand = Cast(Term(legaliser, operand), DType::kF32).id();
  const bool gives_bool = instruction.type == DType::kBool;
  if (!gives_bool) widened.type = DType::kF32;
  const Term result(legaliser, legaliser.Make(widened));
  if (gives_bool) return result.id();
  return (KeepsType(instruction) ? RawCast(result, type) : Cast(result, type))
      .id();
}

}  // namespace ember::jit::legalise
