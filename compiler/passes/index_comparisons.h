// Replaces constants that count along one axis, in comparisons, by that axis'
// index. Masks then need no memory, and a schedule can see which keys a causal
// mask hides.
//
//   %columns: i64[1, 4] = constant() {value = [0, 1, 2, 3]}
//   %rows: i64[2, 1] = constant() {value = [2, 3]}
//   %seen = less_equal(%columns, %rows)
// becomes
//   %columns: i64[1, 4] = iota() {axis = 1}
//   %rows: i64[2, 1] = add(iota() {axis = 0}, [[2]])
//   %seen = less_equal(%columns, %rows)
//
// Applies only if fold-constants has left the comparison: its result is large,
// or the other operand is not constant. This pass runs after the last
// fold-constants, which would turn the index into a constant again.
#ifndef EMBER_COMPILER_PASSES_INDEX_COMPARISONS_H_
#define EMBER_COMPILER_PASSES_INDEX_COMPARISONS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status UseIndicesInComparisons(graph::Graph& graph);

// True if the operation compares indices and numbers with each other, joins two
// such comparisons, or adds a number to an index: computing it again costs no
// more than reading its result. Dims of the model are numbers, too.
bool IsOfIndices(const graph::Operation& operation);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_INDEX_COMPARISONS_H_
