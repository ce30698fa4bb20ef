// Expresses a binary operation on two values in operations that a target has.
// Back ends use it for updates (old element and new value) and for combining
// values:
//
//   Formula formula = MakeFormula(Opcode::kMinimum, DType::kF32, operations);
//   // select(is_nan(b), nan, select(b < a, b, a))
//
// A Formula is a value; a back end keeps the formulas that it needs.
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
  // All nodes of the expression, including constants but not the operands a and
  // b, with operands before their users. The last one is the result. Empty if
  // the result is a or b.
  std::vector<NodeId> order;
  NodeId result = 0;
};

// Returns the formula of a binary instruction, whose operands and result have
// the type.
Formula MakeFormula(Opcode opcode, DType type,
                    const TargetOperations& operations);

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_FORMULA_H_
