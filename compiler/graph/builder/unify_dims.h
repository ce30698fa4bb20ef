// Finds dims that must be equal for an operation to be valid, but are not known
// to be: two symbols, or two different expressions of one (floordiv(H + 15, 16)
// and 2*floordiv(H + 31, 32), which agree for the sizes that a model is made
// for). The builder assumes that they are equal with an `assume` operation,
// which the program checks when it runs.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_UNIFY_DIMS_H_
#define EMBER_COMPILER_GRAPH_BUILDER_UNIFY_DIMS_H_

#include <vector>

#include "compiler/graph/operators.h"

namespace ember::graph {

// Returns for each operand the shape that it must be assumed to have for
// inference to accept the operands: its own shape if nothing has to be assumed.
// Dims that are known to differ are left for inference to refuse.
std::vector<Shape> UnifyDims(const OperatorRecord& record,
                             const std::vector<Value*>& operands,
                             const Attributes& attributes);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_UNIFY_DIMS_H_
