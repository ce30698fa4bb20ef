#include "tools/lib/c_program/input_dims.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "base/concat.h"

namespace ember::tools {
namespace {

// The name of symbols that stand for any extent, another one at each use.
constexpr const char* kAnyExtent = "?";

Status WrongShape(const vm::Module& module, const vm::TensorSignature& input,
                  const NamedShape& shape) {
  std::string found;
  for (const std::optional<int64_t>& dim : shape.dims) {
    found += Concat({found.empty() ? "" : "x",
                     dim ? std::to_string(*dim) : std::string("?")});
  }
  return InvalidArgumentError(
      Concat({"--shape of input '", input.name, "': expected ",
              vm::SignatureText(module.entry(), input), ", found ",
              found.empty() ? "a scalar" : found}));
}

}  // namespace

StatusOr<std::vector<std::vector<int64_t>>> InputDims(
    const vm::Module& module, std::span<const NamedShape> shapes) {
  const std::span<const vm::TensorSignature> inputs = module.inputs();
  const std::vector<std::string>& symbols = module.entry().symbols;
  std::vector<int64_t> values(symbols.size(), -1);
  std::vector<std::vector<int64_t>> dims;
  for (const vm::TensorSignature& input : inputs) dims.push_back(input.dims);
  for (const NamedShape& shape : shapes) {
    const auto found =
        std::ranges::find(inputs, shape.name, &vm::TensorSignature::name);
    if (found == inputs.end()) {
      return InvalidArgumentError(
          Concat({"--shape: expected the name of an input, found '", shape.name,
                  "'; vm-dump --part=signature lists them"}));
    }
    if (found->dims.size() != shape.dims.size())
      return WrongShape(module, *found, shape);
    for (size_t i = 0; i < shape.dims.size(); ++i) {
      if (!shape.dims[i]) continue;
      const int64_t declared = found->dims[i];
      const int64_t given = *shape.dims[i];
      if (declared >= 0) {
        if (declared != given) return WrongShape(module, *found, shape);
        continue;
      }
      const auto symbol = static_cast<size_t>(-1 - declared);
      dims[static_cast<size_t>(found - inputs.begin())][i] = given;
      if (symbols[symbol] == kAnyExtent) continue;
      if (values[symbol] >= 0 && values[symbol] != given)
        return WrongShape(module, *found, shape);
      values[symbol] = given;
    }
  }
  for (std::vector<int64_t>& of_input : dims) {
    for (int64_t& dim : of_input) {
      if (dim < 0) dim = values[static_cast<size_t>(-1 - dim)];
    }
  }
  return dims;
}

}  // namespace ember::tools
