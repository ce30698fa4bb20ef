// Local simplifications: operations that compute nothing, or that a cheaper one
// computes.
//
//   add(%x, 0) → %x    multiply(%x, 1) → %x
//   reshape(reshape(%x)) → reshape(%x)
//   slice of everything, pad by nothing, concat of one, cast to the same type
//   → %x
//
// Floating-point rules are exact: x + 0 is only dropped for -0 (x + 0 makes
// -0 into 0, so it is kept unless the constant is -0.0, or the sum becomes an
// integer), x * 1 and x / 1 always.
#ifndef EMBER_COMPILER_PASSES_SIMPLIFY_H_
#define EMBER_COMPILER_PASSES_SIMPLIFY_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status Simplify(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_SIMPLIFY_H_
