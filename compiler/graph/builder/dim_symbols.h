// Symbols that stand for expressions of dims, and the extents of results whose
// broadcast the data decides. A part of the builder.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_DIM_SYMBOLS_H_
#define EMBER_COMPILER_GRAPH_BUILDER_DIM_SYMBOLS_H_

#include <optional>
#include <vector>

#include "compiler/graph/builder/builder.h"
#include "compiler/graph/dim.h"
#include "compiler/graph/graph.h"

namespace ember::graph {

// Returns a symbol whose value the program computes from the expression. Equal
// expressions of a graph get the same symbol. `graph`: the builder's graph.
Dim SymbolOf(GraphBuilder& builder, const Graph& graph, const Dim& dim);

// True if two of the extents may broadcast, and data gives one of them. The
// program cannot choose a variant for such dims before it runs
// (broadcasting.h), so they are always broadcast as the run's extents require.
bool DataMayBroadcast(const std::vector<Dim>& extents);

// Returns the extent of the result of broadcasting dims of which
// DataMayBroadcast holds. It is one of the extents, or a symbol, which can be
// broadcast with each of the extents again: an expression of their symbols
// would be taken to equal them.
Dim StretchedExtent(GraphBuilder& builder, const Graph& graph,
                    const std::vector<Dim>& extents);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_DIM_SYMBOLS_H_
