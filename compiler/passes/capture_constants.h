// Copies constants that a region captures into the region. Values computed from
// them there can then be folded, and dispatches know that they never change.
#ifndef EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_
#define EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// Copies the constants. The captures themselves remain, unused, for
// eliminate-dead-code. Regions inside of regions get their copies when the pass
// runs on the region around them.
Status CaptureConstants(graph::Graph& graph);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_CAPTURE_CONSTANTS_H_
