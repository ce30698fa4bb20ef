// Makes a module of an expression in index notation
// (tensor/notation/README.md), so that tools can run it like a model.
//
//   EMBER_ASSIGN_OR_RETURN(
//       std::shared_ptr<const vm::Module> module,
//       ModuleOfExpression("y[i, j] = sum(k) a[i, k] * b[k, j]", shapes));
//
// The module has one dispatch, whose inputs and results are those of the
// expression, and a program that calls it. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_EXPRESSION_H_
#define EMBER_TOOLS_LIB_MODELS_EXPRESSION_H_

#include <memory>
#include <span>
#include <string_view>

#include "base/status.h"
#include "tools/lib/tensors/spec.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Makes the module. `shapes` are the values of --shape; they declare the inputs
// that the text itself does not declare, as f32 if they give no type. Errors
// are command line errors that name --expression or --shape: the text is wrong;
// a dim is not a number.
StatusOr<std::shared_ptr<const vm::Module>> ModuleOfExpression(
    std::string_view text, std::span<const NamedShape> shapes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_EXPRESSION_H_
