// Makes modules of their text form: files that a user writes by hand, or that
// vm-dump printed.
//
//   if (IsModuleText(contents))
//     EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
//                            ModuleOfText(contents, "own.dispatch", {}, ""));
//
//   dispatch @scale<N>(%x: f32[N], %s: f32[]) -> (%y: f32[N]) {
//     %y[i] = %x[i] * %s[]
//   }
//
// A text is one dispatch or several (tensor/GRAMMAR.md), or a whole module
// (vm/isa/GRAMMAR.md); comments may come first. Several dispatches are several
// functions: the caller names the one to run. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_TEXT_MODULE_H_
#define EMBER_TOOLS_LIB_MODELS_TEXT_MODULE_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

// True if the text begins as a dispatch or a module does.
bool IsModuleText(std::string_view contents);

// The dims that the user gives for each input, by its name; a negative dim is
// not given.
using DimsOfInputs = std::map<std::string, std::vector<int64_t>>;

// Makes the module. `name` is the file's, for errors. `dims` decides the values
// of the dispatch's parameters: a parameter is the extent of the first input
// that has it as a dim and that is in `dims`, or else 1. `entry` names the
// dispatch; "" is the only one. Errors: the text is wrong, with its line and
// column; there is no such dispatch, or there are several and none is named;
// two inputs give different values to a parameter; a parameter is no dim of an
// input. The result is verified.
StatusOr<vm::ModuleDefinition> ModuleOfText(std::string_view contents,
                                            const std::string& name,
                                            const DimsOfInputs& dims,
                                            const std::string& entry);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_TEXT_MODULE_H_
