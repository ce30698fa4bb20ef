// Eliminates common subexpressions and dead code.
//
//   %a = add(%x, %y)           %a = add(%x, %y)
//   %b = add(%x, %y)     →     %c = multiply(%a, %a)
//   %c = multiply(%a, %b)
//   %d = exp(%x)  (unused)
#ifndef EMBER_COMPILER_PASSES_ELIMINATE_H_
#define EMBER_COMPILER_PASSES_ELIMINATE_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Merges operations with equal operator, operands and attributes, except for
// those that the program runs.
Status EliminateCommonSubexpressions(graph::Graph& graph);
// Removes operations without a used result, except for checks (extents with a
// message, and an `assume` that excludes a broadcast) and those that define a
// symbol in use.
Status EliminateDeadCode(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_ELIMINATE_H_
