// Which types an instruction takes and gives: one set of rules, for the
// verifiers of all forms that have instructions.
//
//   const DType operands[] = {DType::kF32, DType::kF64};
//   FindTypeFault(Opcode::kAdd, DType::kF32, operands)
//   // kOperand: operand 1, expected f32, found f64
#ifndef EMBER_TENSOR_TYPE_RULES_H_
#define EMBER_TENSOR_TYPE_RULES_H_

#include <cstdint>
#include <span>

#include "tensor/instructions.h"

namespace ember::tensor {

struct TypeFault {
  enum Kind : uint8_t {
    kNone,
    kOperands,  // the instruction takes no operands of type `found`
    kOperand,   // one operand is not of the type that the others want
    kResult,
    kBitcast  // `found` cannot become `expected`
  };
  Kind kind = kNone;
  uint8_t operand = 0;  // kOperand: which
  DType expected = DType::kF32;
  DType found = DType::kF32;
};

// For arithmetic, Select, Cast and Bitcast, with as many operands as
// RegisterOperandCount says.
TypeFault FindTypeFault(Opcode opcode, DType result,
                        std::span<const DType> operands);

// Whether the bits are a constant of the type (Instruction::immediate).
bool AreBitsOf(uint64_t bits, DType type);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TYPE_RULES_H_
