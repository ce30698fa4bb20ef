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
  // Extents of symbols that are pinned, by the symbol's name.
  std::map<std::string, int64_t> symbols;
  // Names of stages to leave out (see PrintPipeline). A stage behind the passes
  // cannot be left out; its optimisations are switched off instead. Unknown
  // names are an error.
  std::set<std::string> disabled_passes;
  // The stage after which `dump` is called (see HasDump), with the stage's
  // name, its number and its result as text: the graph, after "form-dispatches"
  // the dispatches, after "emit" the module. "all" calls it after each stage,
  // with "(unchanged)" if a pass changed nothing; "" never.
  std::string dump_after;
  std::function<void(std::string_view pass, int number, std::string_view text)>
      dump;
  // Called after each pass with the milliseconds that the pass took.
  std::function<void(std::string_view pass, double milliseconds)> timing;
  // Receives an event before each pass, with the stage "compile"; may be null.
  Progress* progress = nullptr;
  std::string producer = "ember";
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_COMPILE_OPTIONS_H_
