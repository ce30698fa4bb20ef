// Finds the symbols of dims that a graph uses, and those that it defines itself
// (operators with the attribute `defines`, loops with `varying`).
//
//   for (const std::string& symbol : FreeSymbols(*operation.regions()[0])) …
#ifndef EMBER_COMPILER_GRAPH_OPERATORS_SYMBOLS_H_
#define EMBER_COMPILER_GRAPH_OPERATORS_SYMBOLS_H_

#include <set>
#include <string>

#include "compiler/graph/graph.h"

namespace ember::graph {

// These functions add symbols to `symbols`: those that occur in a shape, or
// those that an operation uses (in the types of its operands and results, in
// its attributes, and free ones in its regions).
void CollectSymbols(const Operation& operation, std::set<std::string>& symbols);
void CollectSymbols(const Shape& shape, std::set<std::string>& symbols);

// Returns the symbols that a region needs from outside: all that occur in it,
// except those that its operations define. The symbols of a loop's attribute
// `varying` count as needed by the loop's body.
std::set<std::string> FreeSymbols(const Graph& region);

// Returns the symbols to which the graph's operations, including those in
// regions, give values (attribute `defines`), and the symbols of the attribute
// `varying` of loops.
std::set<std::string> SymbolsDefinedIn(const Graph& graph);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_OPERATORS_SYMBOLS_H_
