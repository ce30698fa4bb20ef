// Makes a module with one dispatch and a program that calls it, so that tools
// can run a dispatch like a model.
//
//   EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch,
//                          tensor::Parse(text));
//   EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
//                          ModuleOfDispatch(dispatch, {8}, "own.dispatch"));
//
// The program's inputs and results are those of the dispatch, with the extents
// that they have for these parameters. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_DISPATCH_MODULE_H_
#define EMBER_TOOLS_LIB_MODELS_DISPATCH_MODULE_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

// Makes the module. The dispatch must be verified. `module_name` must not
// contain quotes or backslashes. Errors: those of ConcreteHeader::Evaluate.
StatusOr<vm::ModuleDefinition> ModuleOfDispatch(
    const tensor::Dispatch& dispatch, std::span<const int64_t> parameters,
    std::string_view module_name);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_DISPATCH_MODULE_H_
