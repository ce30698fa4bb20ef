// Maps an update such as += to the instruction that combines the element's
// earlier value with the new one.
//
//   EvaluateScalar(OpcodeOf(Update::kAdd), type, type, {old, value, 0})
#ifndef EMBER_TENSOR_UPDATE_H_
#define EMBER_TENSOR_UPDATE_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the opcode that combines an element's earlier value with the new one.
// The update must not be kAssign, which combines nothing.
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
