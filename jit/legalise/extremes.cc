#include "jit/legalise/extremes.h"

#include <limits>

#include "jit/legalise/term.h"
#include "tensor/scalar.h"

namespace ember::jit::legalise {
namespace {

bool IsNumber(const Term& value) {
  const tensor::Node& node = value.legaliser().pool()[value.id()];
  return value.legaliser().IsConstant(value.id()) &&
         tensor::EvaluateScalar(Opcode::kIsNan, node.type, DType::kBool,
                                {node.immediate}) == 0;
}

}  // namespace

std::optional<NodeId> Extremes(Legaliser& legaliser,
                               const Instruction& instruction) {
  const bool is_minimum = instruction.opcode == Opcode::kMinimum;
  if (!IsFloat(instruction.type) ||
      !(is_minimum || instruction.opcode == Opcode::kMaximum))
    return std::nullopt;
  const Term a(legaliser, instruction.operands[0]);
  const Term b(legaliser, instruction.operands[1]);
  if (instruction.is_raw) {
    if (legaliser.target().number_extremes) return std::nullopt;
    return Select((is_minimum ? a < b : b < a) | IsNan(b), a, b).id();
  }
  if (IsNumber(a)) return Select(is_minimum ? a <= b : b <= a, a, b).id();
  const Term result = Select(is_minimum ? b < a : a < b, b, a);
  if (IsNumber(b)) return result.id();
  const Term nan = a.Number(std::numeric_limits<double>::quiet_NaN());
  return Select(IsNan(b), nan, result).id();
}

}  // namespace ember::jit::legalise
