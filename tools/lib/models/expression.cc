#include "tools/lib/models/expression.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "tensor/notation/notation.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/models/dispatch_module.h"

namespace ember::tools {
namespace {

bool IsWordLetter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_';
}

// True if the text declares the tensor `name` with its type, as in "x: f32[4]".
bool Declares(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at > 0 && IsWordLetter(text[at - 1])) continue;
    const size_t next = text.find_first_not_of(" \t\r\n", at + name.size());
    if (next != std::string_view::npos && text[next] == ':') return true;
  }
  return false;
}

StatusOr<tensor::NotationInput> InputOf(const NamedShape& shape) {
  tensor::NotationInput input;
  input.name = shape.name;
  input.type = shape.type.value_or(DType::kF32);
  for (const std::optional<int64_t>& dim : shape.dims) {
    if (!dim) {
      return CommandLineError(Concat(
          {"--shape of '", shape.name, "': expected extents, found '?'"}));
    }
    input.dims.push_back({.extent = *dim, .name = ""});
  }
  return input;
}

StatusOr<std::shared_ptr<const vm::Module>> Make(
    std::string_view text, std::span<const NamedShape> shapes) {
  std::vector<tensor::NotationInput> inputs;
  for (const NamedShape& shape : shapes) {
    if (Declares(text, shape.name)) {
      return CommandLineError(
          Concat({"--shape of '", shape.name,
                  "': expected a tensor that --expression does not declare, "
                  "found one that it declares"}));
    }
    EMBER_ASSIGN_OR_RETURN(tensor::NotationInput input, InputOf(shape));
    inputs.push_back(std::move(input));
  }
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch dispatch,
                         tensor::ParseNotation(text, inputs, ""));
  if (!dispatch.parameters.empty()) {
    return InvalidArgumentError(Concat(
        {"expected numbers as extents, found ", dispatch.parameters.front()}));
  }
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         ModuleOfDispatch(dispatch, {}, "expression"));
  return vm::Module::FromDefinition(std::move(definition));
}

}  // namespace

StatusOr<std::shared_ptr<const vm::Module>> ModuleOfExpression(
    std::string_view text, std::span<const NamedShape> shapes) {
  StatusOr<std::shared_ptr<const vm::Module>> module = Make(text, shapes);
  if (module.ok() || IsCommandLineError(module.status())) return module;
  return AsCommandLineError(module.status().WithContext("--expression"));
}

}  // namespace ember::tools
