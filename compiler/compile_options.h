// What a caller of the compiler can choose; read by Compile
// (compiler/compile.h) and the pipeline.
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
  // Pins dims: symbol name → extent.
  std::map<std::string, int64_t> symbols;
  // Names of stages to leave out (see PrintPipeline), or, of those behind the
  // passes, to do without what they gain; unknown names are an error.
  std::set<std::string> disabled_passes;
  // After which stage `dump` is called (see HasDump), with its name, number and
  // the text of what it left: the graph, after "form-dispatches" the
  // dispatches, after "emit" the module. "all": after each, with "(unchanged)"
  // where a pass changed nothing; "": after none.
  std::string dump_after;
  std::function<void(std::string_view pass, int number, std::string_view text)>
      dump;
  // Called after each pass with the milliseconds it took.
  std::function<void(std::string_view pass, double milliseconds)> timing;
  // Told of each pass before it begins, in stage "compile"; null: nobody.
  Progress* progress = nullptr;
  std::string producer = "ember";
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_COMPILE_OPTIONS_H_
