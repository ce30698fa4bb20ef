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

// True if two of the extents may broadcast and one of them depends on data. The
// program cannot choose a variant for such dims before it runs
// (broadcasting.h), so the code repeats the operands by extents that are
// computed during the run.
bool DataMayBroadcast(const std::vector<Dim>& extents);

// Returns the extent of the result of broadcasting dims for which
// DataMayBroadcast holds: a constant, one of the extents, or a new symbol for
// the expression. The result may be broadcast with these extents again; an
// expression of their symbols would then wrongly count as equal to them
// (MayBroadcast), but a new symbol does not.
Dim StretchedExtent(GraphBuilder& builder, const Graph& graph,
                    const std::vector<Dim>& extents);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_DIM_SYMBOLS_H_
