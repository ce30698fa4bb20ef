// Makes random graphs that move elements: chains of transposes, reshapes,
// slices, pads, broadcasts, concatenations, reductions and elementwise
// operations, with dims of extent 1, dims that occur again, and symbolic ones.
// For tests of passes.
//
//   RandomMovements random = MakeRandomMovements(seed);
//   auto results = graph::Evaluate(random.graph, random.inputs);
//
// Equal seeds give equal graphs. All results are exact: elements are small
// integers, whatever their type.
#ifndef EMBER_COMPILER_TESTING_RANDOM_MOVEMENTS_H_
#define EMBER_COMPILER_TESTING_RANDOM_MOVEMENTS_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/graph/testing/evaluate.h"

namespace ember::compiler {

struct RandomMovements {
  graph::Graph graph;
  std::vector<graph::TensorData> inputs;
};

RandomMovements MakeRandomMovements(uint64_t seed);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_TESTING_RANDOM_MOVEMENTS_H_
