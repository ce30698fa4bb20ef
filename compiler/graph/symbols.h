// Which symbols of dims a graph uses, and which of them it defines itself
// (operators with the attribute `defines`, loops with `varying`).
//
//   for (const std::string& symbol : FreeSymbols(*operation.regions()[0])) …
#ifndef EMBER_COMPILER_GRAPH_SYMBOLS_H_
#define EMBER_COMPILER_GRAPH_SYMBOLS_H_

#include <set>
#include <string>

#include "compiler/graph/graph.h"

namespace ember::graph {

// Adds the symbols in the types of operands and results, in attributes, and the
// free symbols of regions.
void CollectSymbols(const Operation& operation, std::set<std::string>& symbols);
void CollectSymbols(const Shape& shape, std::set<std::string>& symbols);

// Symbols that a region needs from outside: all that occur in it, less those
// that its operations define. Of a loop's body, this includes `varying`.
std::set<std::string> FreeSymbols(const Graph& region);

// Symbols that the graph's operations define, those in regions included.
std::set<std::string> SymbolsDefinedIn(const Graph& graph);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_SYMBOLS_H_
