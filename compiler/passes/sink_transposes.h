// Moves transposes toward the outputs until they cancel with their inverse.
// Convolutions are channels-last in the graph, so frontends of channels-first
// formats wrap each in a pair of transposes; this pass makes the pairs cancel,
// and the model runs channels-last throughout.
//
//   %a = transpose(%x) {0,3,1,2}          %b = maximum(%x, %zero)
//   %b = maximum(%a, %zero)          →
//   %c = transpose(%b) {0,2,3,1}          (uses of %c use %b)
#ifndef EMBER_COMPILER_PASSES_SINK_TRANSPOSES_H_
#define EMBER_COMPILER_PASSES_SINK_TRANSPOSES_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

Status SinkTransposes(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_SINK_TRANSPOSES_H_
