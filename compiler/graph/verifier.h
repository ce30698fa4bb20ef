// Checks the invariants that every pass must preserve.
//
//   EMBER_RETURN_IF_ERROR(Verify(graph));
//
// Checked: definitions come before uses, operands belong to the graph, uses are
// listed once each on both sides, result types are those of inference, outputs
// belong to the graph, names of inputs and of outputs are distinct.
#ifndef EMBER_COMPILER_GRAPH_VERIFIER_H_
#define EMBER_COMPILER_GRAPH_VERIFIER_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::graph {

// Returns kInternal with one line that names the operation: a graph that does
// not verify is a bug of a pass.
Status Verify(const Graph& graph);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_VERIFIER_H_
