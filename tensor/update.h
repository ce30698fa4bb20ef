// Maps an update of an element to its arithmetic instruction.
//
//   EvaluateScalar(OpcodeOf(Update::kAdd), type, type, {old, value, 0})
#ifndef EMBER_TENSOR_UPDATE_H_
#define EMBER_TENSOR_UPDATE_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the opcode of an update. The update must not be kAssign, which
// computes nothing.
constexpr Opcode OpcodeOf(Update update) {
  switch (update) {
    case Update::kMultiply:
      return Opcode::kMultiply;
    case Update::kMinimum:
      return Opcode::kMinimum;
    case Update::kMaximum:
      return Opcode::kMaximum;
    default:
      return Opcode::kAdd;
  }
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_UPDATE_H_
