// Compiles a graph to a module, by the pipeline steps of compiler/pipeline.h.
//
//   EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
//                          Compile(std::move(graph), {}));
//
// Thread-safe for distinct graphs. Errors name the operation (model node) and
// the reason.
#ifndef EMBER_COMPILER_COMPILE_H_
#define EMBER_COMPILER_COMPILE_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "compiler/compile_options.h"
#include "compiler/graph/graph.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler {

StatusOr<vm::ModuleDefinition> Compile(graph::Graph graph,
                                       const CompileOptions& options);

// Returns the names of the pipeline steps in order, one line each: "number
// name what the step does".
std::string PrintPipeline();

// True if CompileOptions::dump_after may name this step: it is a step of the
// pipeline, or "import", whose result is the graph that Compile was given.
bool HasDump(std::string_view step);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_COMPILE_H_
