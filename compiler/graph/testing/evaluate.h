// Runs a graph, operation by operation, on the scalar evaluator: this defines
// the meaning of a graph. Slow; for tests of definitions and for comparing a
// graph before and after a pass.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<TensorData> outputs,
//                          Evaluate(graph, inputs));
#ifndef EMBER_COMPILER_GRAPH_TESTING_EVALUATE_H_
#define EMBER_COMPILER_GRAPH_TESTING_EVALUATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::graph {

struct TensorData {
  DType dtype = DType::kF32;
  std::vector<int64_t> extents;
  ConstantData data;
};

// Evaluates the graph. Takes one tensor per input, in order; symbols get their
// values from the inputs' extents. Errors: inputs that do not fit, a symbol
// that no input dim gives, an index out of range, more than 1 GiB for one
// value.
StatusOr<std::vector<TensorData>> Evaluate(const Graph& graph,
                                           std::span<const TensorData> inputs);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_TESTING_EVALUATE_H_
