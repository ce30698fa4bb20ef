// Maps a combiner (sum, product, minimum, maximum) to the instruction that adds
// one more term to a reduction.
//
//   EvaluateScalar(OpcodeOf(stage.combiner), type, type, {so_far, term, 0})
#ifndef EMBER_TENSOR_COMBINE_H_
#define EMBER_TENSOR_COMBINE_H_

#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the opcode that combines one more term with the accumulator. The
// combiner must not be kNone or kFold, which have no such instruction.
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
