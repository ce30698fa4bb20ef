// Makes random valid graphs for tests of the text form and of passes: every
// operator, all dtypes, symbolic and constant dims, values used several times
// and not at all.
//
//   Graph graph = RandomGraph(seed, 20);
#ifndef EMBER_COMPILER_GRAPH_TESTING_RANDOM_GRAPH_H_
#define EMBER_COMPILER_GRAPH_TESTING_RANDOM_GRAPH_H_

#include <cstdint>

#include "compiler/graph/graph.h"

namespace ember::graph {

// Returns a random graph: the same one for the same arguments, on every
// machine. The graph verifies and has at least one output.
Graph RandomGraph(uint64_t seed, int operations);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_TESTING_RANDOM_GRAPH_H_
