// The compiler's stages, from the imported graph to the module: one readable
// list, run by one runner that names, times, verifies and dumps each of them,
// and leaves out those that are disabled.
//
//   Compilation compilation(std::move(graph), "ember");
//   EMBER_RETURN_IF_ERROR(RunPipeline(compilation, {.dump_after = "fold-pads",
//                                                   .dump = print}));
//   // compilation.module
//
// Thread-safe for distinct graphs. Compile (compiler/compile.h) is what others
// call.
#ifndef EMBER_COMPILER_PIPELINE_H_
#define EMBER_COMPILER_PIPELINE_H_

#include <span>
#include <string_view>

#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "compiler/stage.h"

namespace ember::compiler {

// What the graph that the stages start from is called in dumps.
inline constexpr std::string_view kImport = "import";

// In execution order. A pass may stand in the list more than once.
std::span<const Stage> Pipeline();

// Its first part: graph to graph.
std::span<const Stage> GraphPipeline();

// One graph pass on its own, on the regions inside first: for tests that
// compare a graph before and after it.
Status RunPass(const Stage& pass, graph::Graph& graph);

// Errors begin with the stage that gave them; kInternal where a stage left what
// does not verify. options.disabled_passes names stages that may be disabled.
Status RunPipeline(Compilation& compilation, const CompileOptions& options);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PIPELINE_H_
