// Handles open dims that may be 1 where a result's rank depends on that. An
// operation that drops all dims of extent 1 would drop such a dim in some runs
// and keep it in others, but a value has only one rank.
//
//   y = b.Squeeze(x, UnitAxes(b, x->shape()));   // [N, 1, 3] gives [N, 3]
//
// An open dim is assumed not to be 1. The program checks the assumption, and
// the graph records it, so that a tool that knows the extents can import the
// model again with these dims fixed.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_UNIT_DIMS_H_
#define EMBER_COMPILER_GRAPH_BUILDER_UNIT_DIMS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/builder/builder.h"

namespace ember::graph {

// Makes the program check that the dim is not 1, and records that in the graph.
// Does nothing if it is known whether the dim is 1.
void TakeNotUnit(GraphBuilder& builder, const Dim& dim);

// Returns the axes of extent 1. Assumes of each open dim that it is not 1
// (TakeNotUnit).
std::vector<int64_t> UnitAxes(GraphBuilder& builder, const Shape& shape);

// Returns the dims for which TakeNotUnit has recorded in the graph, or in its
// regions, that they are assumed not to be 1.
std::vector<Dim> DimsTakenNotUnit(const Graph& graph);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_UNIT_DIMS_H_
