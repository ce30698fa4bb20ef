// Handles dims that may be 1 where a rank depends on that: what drops all
// dims of extent 1 drops an open dim in some runs and keeps it in others, but a
// value has one rank.
//
//   y = b.Squeeze(x, UnitAxes(b, x->shape()));   // [N, 1, 3] gives [N, 3]
//
// An open dim is taken not to be 1. The program checks that, and the graph
// remembers it, so that a tool that knows the extents can import the model
// again with these dims fixed.
#ifndef EMBER_COMPILER_GRAPH_UNIT_DIMS_H_
#define EMBER_COMPILER_GRAPH_UNIT_DIMS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/builder.h"

namespace ember::graph {

// Does nothing for a dim that is known to be 1, or not to be.
void TakeNotUnit(GraphBuilder& builder, const Dim& dim);

// Returns the axes of extent 1.
std::vector<int64_t> UnitAxes(GraphBuilder& builder, const Shape& shape);

// Returns the dims that the graph, with its regions, takes not to be 1.
std::vector<Dim> DimsTakenNotUnit(const Graph& graph);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_UNIT_DIMS_H_
