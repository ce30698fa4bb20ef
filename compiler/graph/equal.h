// Structural equality of graphs: the same inputs, operations in the same order
// with the same operands, attributes, result types and origins, and outputs.
// Names of values inside do not count.
//
//   Equal(*Parse(Print(graph)), graph)
#ifndef EMBER_COMPILER_GRAPH_EQUAL_H_
#define EMBER_COMPILER_GRAPH_EQUAL_H_

#include "compiler/graph/graph.h"

namespace ember::graph {

bool Equal(const Graph& a, const Graph& b);
// True if the attributes are equal. Constants are equal if their bytes are.
bool Equal(const Attribute& a, const Attribute& b);
bool Equal(const Attributes& a, const Attributes& b);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_EQUAL_H_
