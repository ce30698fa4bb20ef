// Evaluates one operation on small constants with the scalar evaluator while a
// graph is being built: shape arithmetic and the like. The fold-constants pass
// evaluates the large ones.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_CONSTANT_FOLDING_H_
#define EMBER_COMPILER_GRAPH_BUILDER_CONSTANT_FOLDING_H_

#include <optional>

#include "compiler/graph/graph.h"

namespace ember::graph {

// Evaluates the operation and returns the bytes of its only result. Returns
// nullopt if an operand is not constant, if the operands together or the result
// have more than 4096 elements, if the result is much larger than the operands,
// if dims or attributes have symbols, if an integer is divided by 0, or if the
// evaluation fails (an index out of range). Casts of matrices of bytes to a
// wider type are not folded either: they are weights of quantized products.
std::optional<ConstantData> FoldSmallConstant(const Operation& operation);

// Returns the elements of a value that a `constant` operation makes; null for
// other values.
const ConstantData* ConstantDataOf(const Value* value);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_CONSTANT_FOLDING_H_
