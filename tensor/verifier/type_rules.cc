#include "tensor/verifier/type_rules.h"

namespace ember::tensor {
namespace {

TypeFault CheckOperand(std::span<const DType> operands, uint8_t number,
                       DType expected) {
  if (operands[number] == expected) return {};
  return {TypeFault::kOperand, number, expected, operands[number]};
}

TypeFault CheckResult(DType result, DType expected) {
  if (result == expected) return {};
  return {TypeFault::kResult, 0, expected, result};
}

}  // namespace

TypeFault FindTypeFault(Opcode opcode, DType result,
                        std::span<const DType> operands) {
  TypeFault fault;
  const InstructionInfo& info = InfoOf(opcode);
  if (info.group == InstructionGroup::kStructural) {
    if (opcode == Opcode::kSelect) {
      fault = CheckOperand(operands, 0, DType::kBool);
      if (fault.kind == TypeFault::kNone) {
        fault = CheckOperand(operands, 2, operands[1]);
      }
      if (fault.kind == TypeFault::kNone) {
        fault = CheckResult(result, operands[1]);
      }
    } else if (opcode == Opcode::kBitcast &&
               (result == DType::kBool ||
                DTypeByteSize(operands[0]) != DTypeByteSize(result))) {
      fault = {TypeFault::kBitcast, 0, result, operands[0]};
    }
    return fault;
  }
  if (!AcceptsType(info.kinds, operands[0])) {
    return {TypeFault::kOperands, 0, operands[0], operands[0]};
  }
  if (operands.size() > 1) fault = CheckOperand(operands, 1, operands[0]);
  if (fault.kind != TypeFault::kNone) return fault;
  const bool makes_bool = info.group == InstructionGroup::kClassify ||
                          info.group == InstructionGroup::kCompare;
  return CheckResult(result, makes_bool ? DType::kBool : operands[0]);
}

bool AreBitsOf(uint64_t bits, DType type) {
  const int width = 8 * DTypeByteSize(type);
  return (width == 64 || bits >> width == 0) &&
         (type != DType::kBool || bits <= 1);
}

}  // namespace ember::tensor
