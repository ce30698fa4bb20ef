// The options of the compiler; Compile (compiler/compile.h) and the pipeline
// read them.
#ifndef EMBER_COMPILER_COMPILE_OPTIONS_H_
#define EMBER_COMPILER_COMPILE_OPTIONS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/progress.h"

namespace ember::compiler {

struct CompileOptions {
  // Fixed extents for symbols (open dims) of the graph, by the symbol's name.
  // The compiler replaces these symbols by the extents.
  std::map<std::string, int64_t> symbols;
  // Names of steps to leave out (see PrintPipeline). A step after the graph
  // passes cannot be left out; naming it switches its optimisations off
  // instead. Unknown names are an error.
  std::set<std::string> disabled_passes;
  // The name of the step after which `dump` is called. `dump` receives the
  // step's name, its number and its result as text: the graph, after
  // "form-dispatches" the dispatches, after "emit" the module. "import" means
  // the graph before the first step; "all" means "import" and after each step,
  // with the text "(unchanged)" if a pass changed nothing; "" means never.
  std::string dump_after;
  std::function<void(std::string_view pass, int number, std::string_view text)>
      dump;
  // This function is called after each step with the step's name and the
  // milliseconds that it took. It may be empty.
  std::function<void(std::string_view pass, double milliseconds)> timing;
  // This object receives an event with the stage "compile" before each step
  // that is run. Null means that no events are sent.
  Progress* progress = nullptr;
  std::string producer = "ember";
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_COMPILE_OPTIONS_H_
