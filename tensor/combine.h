// Maps a combiner to the arithmetic instruction of one reduction step.
//
//   EvaluateScalar(OpcodeOf(stage.combiner), type, type, {so_far, term, 0})
#ifndef EMBER_TENSOR_COMBINE_H_
#define EMBER_TENSOR_COMBINE_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the opcode of one reduction step. The combiner must not be kNone or
// kFold, which have no such instruction.
constexpr Opcode OpcodeOf(Combiner combiner) {
  switch (combiner) {
    case Combiner::kProduct:
      return Opcode::kMultiply;
    case Combiner::kMinimum:
      return Opcode::kMinimum;
    case Combiner::kMaximum:
      return Opcode::kMaximum;
    default:
      return Opcode::kAdd;
  }
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_COMBINE_H_
