// What an update computes of the old element and the new value, or a combining
// loop of two values, in operations that a target has:
//
//   Formula formula = MakeFormula(Opcode::kMinimum, DType::kF32, operations);
//   // select(is_nan(b), nan, select(b < a, b, a))
//
// A value; a back end keeps those that it needs.
#ifndef EMBER_JIT_LEGALISE_FORMULA_H_
#define EMBER_JIT_LEGALISE_FORMULA_H_

#include <vector>

#include "jit/legalise/legaliser.h"
#include "jit/legalise/target_operations.h"

namespace ember::jit::legalise {

struct Formula {
  tensor::ExpressionPool pool;
  NodeId a = 0;
  NodeId b = 0;
  // All other nodes, constants among them, operands before their users; the
  // last one is the result. Empty where that is an operand.
  std::vector<NodeId> order;
  NodeId result = 0;
};

// Of a binary instruction on operands of the type, which is its result's.
Formula MakeFormula(Opcode opcode, DType type,
                    const TargetOperations& operations);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_FORMULA_H_
