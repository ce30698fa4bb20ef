// The graph pipeline: one readable list, run by one runner that verifies,
// times, dumps and can disable each pass.
#ifndef EMBER_COMPILER_PIPELINE_H_
#define EMBER_COMPILER_PIPELINE_H_

#include <span>

#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/pass.h"

namespace ember::compiler {

// In execution order. A pass may stand in the list more than once.
std::span<const Pass> GraphPipeline();

Status RunPipeline(graph::Graph& graph, const CompileOptions& options);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PIPELINE_H_
