// Which arithmetic a step of a reduction is.
//
//   EvaluateScalar(OpcodeOf(stage.combiner), type, type, {so_far, term, 0})
#ifndef EMBER_TENSOR_COMBINE_H_
#define EMBER_TENSOR_COMBINE_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Not for kNone and kFold, which combine nothing so.
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
