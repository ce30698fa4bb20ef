// The computation of an update from the old element and the new value, or of a
// combining loop from two values, in operations that a target has:
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
  // All nodes of the expression but the operands, including constants, with
  // operands before their users. The last node is the result. Empty if the
  // result is an operand.
  std::vector<NodeId> order;
  NodeId result = 0;
};

// Makes the formula of a binary instruction on operands of the type, which is
// also that of its result.
Formula MakeFormula(Opcode opcode, DType type,
                    const TargetOperations& operations);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_FORMULA_H_
