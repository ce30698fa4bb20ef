// Constants that a region captures become constants of the region: what is
// computed from them there is folded, and dispatches know that they never
// change.
#ifndef EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_
#define EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// The captures themselves stay, unused, for eliminate-dead-code. Regions inside
// regions get theirs when the pass runs on the region around them.
Status CaptureConstants(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_
