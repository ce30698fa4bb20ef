// Folds constants: an operation whose operands are all constants is replaced by
// its value, computed by running its definition on tier 0, so that there is no
// second copy of its semantics.
//
//   %a = constant() {1, 2};  %b = neg(%a)     →     %b = constant() {-1, -2}
//
// These operations, among others, are not folded:
//   - those whose value is larger than the operands (a broadcast of a scalar,
//     bytes that hold two weights each), which cost less as index expressions
//   - transposes of large weights that only contractions read
//   - operations with symbolic dims
//   - those above a model's limits on growth and on points to evaluate: each
//     operation of a chain may double a constant, and summing a small constant
//     may take arbitrarily long
#ifndef EMBER_COMPILER_PASSES_FOLD_CONSTANTS_H_
#define EMBER_COMPILER_PASSES_FOLD_CONSTANTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Folds constants in the graph and all its regions.
Status FoldConstants(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_FOLD_CONSTANTS_H_
