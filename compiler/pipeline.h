// The graph pipeline: one readable list, run by one runner that verifies,
// times, dumps and can disable each pass.
//
//   EMBER_RETURN_IF_ERROR(RunPipeline(graph, {.dump_after = "fold-pads",
//                                             .dump = print}));
//
// Thread-safe for distinct graphs. Compile (compiler/compile.h) runs it before
// it forms dispatches.
#ifndef EMBER_COMPILER_PIPELINE_H_
#define EMBER_COMPILER_PIPELINE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/pass.h"

namespace ember::compiler {

// What the graph that the passes start from is called in dumps.
inline constexpr std::string_view kImport = "import";

// In execution order. A pass may stand in the list more than once.
std::span<const Pass> GraphPipeline();

// One pass on its own, on the regions inside first: for tests that compare a
// graph before and after it.
Status RunPass(const Pass& pass, graph::Graph& graph);

// Steps of the stage "compile" that CompileOptions::progress is told of:
// passes, and what Compile does behind them.
int64_t CompileSteps();

// Errors begin with the pass that gave them; kInternal where a pass left a
// graph that does not verify.
Status RunPipeline(graph::Graph& graph, const CompileOptions& options);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PIPELINE_H_
