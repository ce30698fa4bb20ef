// Checks the operand and result types of an instruction. The verifiers of all
// forms that have instructions share these rules.
//
//   const DType operands[] = {DType::kF32, DType::kF64};
//   FindTypeFault(Opcode::kAdd, DType::kF32, operands)
//   // kOperand: operand 1, expected f32, found f64
#ifndef EMBER_TENSOR_VERIFIER_TYPE_RULES_H_
#define EMBER_TENSOR_VERIFIER_TYPE_RULES_H_

#include <cstdint>
#include <span>

#include "tensor/instructions.h"

namespace ember::tensor {

struct TypeFault {
  enum Kind : uint8_t {
    kNone,
    kOperands,  // The instruction does not accept operands of the type `found`.
    // One operand has the type `found`, but another operand of the instruction
    // has the type `expected`, and both must be equal.
    kOperand,
    kResult,
    kBitcast  // A bitcast from `found` to `expected` is not possible.
  };
  Kind kind = kNone;
  uint8_t operand = 0;  // index of the wrong operand, for kOperand
  DType expected = DType::kF32;
  DType found = DType::kF32;
};

// Checks an arithmetic instruction, Select, Cast or Bitcast. `operands` has as
// many types as RegisterOperandCount returns.
TypeFault FindTypeFault(Opcode opcode, DType result,
                        std::span<const DType> operands);

// True if the bits are a valid constant of the type (see
// Instruction::immediate).
bool AreBitsOf(uint64_t bits, DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_VERIFIER_TYPE_RULES_H_
