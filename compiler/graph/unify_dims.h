// Dims that must be equal for an operation to make sense, but are not known to
// be: two symbols, or two different expressions of one (floordiv(H + 15, 16)
// and 2*floordiv(H + 31, 32), which agree for the sizes that a model is made
// for). The builder assumes that they are equal with an `assume` operation,
// which the program checks when it runs.
#ifndef EMBER_COMPILER_GRAPH_UNIFY_DIMS_H_
#define EMBER_COMPILER_GRAPH_UNIFY_DIMS_H_

#include <vector>

#include "compiler/graph/operators.h"

namespace ember::graph {

// Per operand, the shape it should be assumed to have so that inference accepts
// the operands: its own where nothing has to be assumed. Dims that are known to
// differ are left for inference to refuse.
std::vector<Shape> UnifyDims(const OperatorRecord& record,
                             const std::vector<Value*>& operands,
                             const Attributes& attributes);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_UNIFY_DIMS_H_
