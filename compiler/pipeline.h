// The steps of the pipeline, from the imported graph to the module: one
// readable list, run by one function that names, times, verifies and dumps each
// step, and leaves out those that are disabled.
//
//   Compilation compilation(std::move(graph), "ember");
//   EMBER_RETURN_IF_ERROR(RunPipeline(compilation, {.dump_after = "fold-pads",
//                                                   .dump = print}));
//   // compilation.module
//
// Thread-safe for distinct graphs. Other code calls Compile
// (compiler/compile.h).
#ifndef EMBER_COMPILER_PIPELINE_H_
#define EMBER_COMPILER_PIPELINE_H_

#include <span>
#include <string_view>

#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "compiler/pipeline_step.h"

namespace ember::compiler {

// The name of the imported graph in dumps; the first step begins with this
// graph.
inline constexpr std::string_view kImport = "import";

// Returns the steps in execution order. A pass may be in the list several
// times.
std::span<const PipelineStep> Pipeline();

// Returns the graph passes, which are the first steps of the pipeline.
std::span<const PipelineStep> GraphPipeline();

// Runs one graph pass on a graph and its regions, the innermost regions first.
// Tests use it to compare a graph before and after a pass.
Status RunPass(const PipelineStep& pass, graph::Graph& graph);

// Runs all steps. Errors begin with the name of the step that returned them;
// kInternal if the result of a step does not verify. options.disabled_passes
// names steps that may be disabled.
Status RunPipeline(Compilation& compilation, const CompileOptions& options);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PIPELINE_H_
