#include "jit/legalise/bools.h"

#include "jit/legalise/term.h"
#include "tensor/scalar.h"

namespace ember::jit::legalise {

std::optional<NodeId> Bools(Legaliser& legaliser,
                            const Instruction& instruction) {
  const Term a(legaliser, instruction.operands[0]);
  if (instruction.opcode == Opcode::kCast) {
    const DType to = instruction.type;
    if (to == DType::kBool) return (a != a.Number(0)).id();
    if (a.type() != DType::kBool || legaliser.target().bool_casts)
      return std::nullopt;
    return Select(a, Constant(legaliser, tensor::OneBits(to), to),
                  Constant(legaliser, tensor::ZeroBits(to), to))
        .id();
  }
  if (a.type() != DType::kBool || instruction.operands.size() != 2)
    return std::nullopt;
  const Term b(legaliser, instruction.operands[1]);
  switch (instruction.opcode) {
    case Opcode::kMinimum:
      return (a & b).id();
    case Opcode::kMaximum:
      return (a | b).id();
    case Opcode::kNotEqual:
      return (a ^ b).id();
    case Opcode::kLess:
      return (Not(a) & b).id();
    case Opcode::kLessEqual:
      return (Not(a) | b).id();
    default:
      return std::nullopt;
  }
}

}  // namespace ember::jit::legalise
