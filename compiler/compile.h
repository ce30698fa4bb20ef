// From a graph to a module: the pipeline of passes (compiler/pipeline.h), dispatch formation, memory
// planning and emission.
//
//   EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module, Compile(std::move(graph), {}));
//
// Thread-safe for distinct graphs. Errors name the operation (model node) and why.
#ifndef EMBER_COMPILER_COMPILE_H_
#define EMBER_COMPILER_COMPILE_H_

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "vm/format/module_definition.h"

namespace ember::compiler {

struct CompileOptions {
  // Pins dims: symbol name → extent.
  std::map<std::string, int64_t> symbols;
  // Names of passes to leave out (see PrintPipeline); unknown names are an error.
  std::set<std::string> disabled_passes;
  // Called after each pass with its name and the graph's (or module's) text; "" as filter = none,
  // "all" = every pass. The text says "(unchanged)" where a pass changed nothing.
  std::string dump_after;
  std::function<void(std::string_view pass, int number, std::string_view text)> dump;
  // Called after each pass with the milliseconds it took.
  std::function<void(std::string_view pass, double milliseconds)> timing;
  std::string producer = "ember";
};

StatusOr<vm::ModuleDefinition> Compile(graph::Graph graph, const CompileOptions& options);

// The pipeline in order, one line per pass: "name: what it does".
std::string PrintPipeline();

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_COMPILE_H_
