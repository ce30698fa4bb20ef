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
    kOperands,  // the instruction takes no operands of type `found`
    kOperand,   // one operand has another type than the others require
    kResult,
    kBitcast  // `found` cannot become `expected`
  };
  Kind kind = kNone;
  uint8_t operand = 0;  // for kOperand: the number of the operand
  DType expected = DType::kF32;
  DType found = DType::kF32;
};

// Checks arithmetic, Select, Cast and Bitcast, with as many operands as
// RegisterOperandCount says.
TypeFault FindTypeFault(Opcode opcode, DType result,
                        std::span<const DType> operands);

// True if the bits are a constant of the type (Instruction::immediate).
bool AreBitsOf(uint64_t bits, DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_VERIFIER_TYPE_RULES_H_
