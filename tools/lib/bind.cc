#include "tools/lib/bind.h"

#include <map>

namespace ember::tools {
namespace {

std::span<const vm::TensorSignature> Signatures(const vm::Module& module,
                                                std::string_view what) {
  return what == "input" ? module.inputs() : module.results();
}

// Values of the module's symbols, by index.
using Symbols = std::map<int64_t, int64_t>;

void BindSymbols(const vm::TensorSignature& signature,
                 std::span<const std::optional<int64_t>> dims,
                 Symbols& symbols) {
  for (size_t i = 0; i < signature.dims.size() && i < dims.size(); ++i) {
    if (signature.dims[i] < 0 && dims[i])
      symbols.emplace(-1 - signature.dims[i], *dims[i]);
  }
}

// The extents of an input that was not given. --shape says them, for this input
// or another one with the same symbol.
std::vector<int64_t> ChooseDims(const vm::TensorSignature& signature,
                                const Symbols& symbols) {
  std::vector<int64_t> dims;
  for (const int64_t dim : signature.dims) {
    const auto symbol = symbols.find(-1 - dim);
    dims.push_back(dim >= 0                  ? dim
                   : symbol == symbols.end() ? 1
                                             : symbol->second);
  }
  return dims;
}

std::string ShapeText(const NamedShape& shape) {
  std::string text;
  for (const std::optional<int64_t>& dim : shape.dims) {
    text += (text.empty() ? "" : "x") + (dim ? std::to_string(*dim) : "?");
  }
  return text.empty() ? "a scalar" : text;
}

Status BindShapes(const vm::Module& module,
                  const std::vector<NamedShape>& shapes, Symbols& symbols) {
  std::vector<std::optional<std::string>> names;
  for (const NamedShape& shape : shapes) names.emplace_back(shape.name);
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                         BindNames(module, "input", names));
  for (size_t i = 0; i < shapes.size(); ++i) {
    const vm::TensorSignature& signature = module.inputs()[numbers[i]];
    bool fits = signature.dims.size() == shapes[i].dims.size();
    for (size_t d = 0; fits && d < signature.dims.size(); ++d) {
      fits = signature.dims[d] < 0 || !shapes[i].dims[d] ||
             *shapes[i].dims[d] == signature.dims[d];
    }
    if (!fits) {
      return InvalidArgumentError("--shape of input '" + signature.name +
                                  "': expected " +
                                  vm::SignatureText(module.entry(), signature) +
                                  ", found " + ShapeText(shapes[i]));
    }
    BindSymbols(signature, shapes[i].dims, symbols);
  }
  return OkStatus();
}

}  // namespace

std::string DescribeSignatures(
    const vm::Program& program,
    std::span<const vm::TensorSignature> signatures) {
  std::string text;
  for (const vm::TensorSignature& signature : signatures) {
    if (!text.empty()) text += ", ";
    text += signature.name + ": " + vm::SignatureText(program, signature);
  }
  return text;
}

StatusOr<std::vector<size_t>> BindNames(
    const vm::Module& module, std::string_view what,
    const std::vector<std::optional<std::string>>& names) {
  const std::span<const vm::TensorSignature> signatures =
      Signatures(module, what);
  const std::string there =
      "the module has " + DescribeSignatures(module.entry(), signatures);
  std::vector<bool> taken(signatures.size());
  std::vector<size_t> numbers;
  for (const std::optional<std::string>& name : names) {
    size_t number = 0;
    while (number < signatures.size() &&
           (name ? signatures[number].name != *name : taken[number])) {
      ++number;
    }
    if (number == signatures.size()) {
      return InvalidArgumentError(
          (name ? "no " + std::string(what) + " '" + *name + "'; "
                : "more than " + std::to_string(signatures.size()) + " " +
                      std::string(what) + "s; ") +
          there);
    }
    if (taken[number]) {
      return InvalidArgumentError(std::string(what) + " '" + *name +
                                  "' is given twice; " + there);
    }
    taken[number] = true;
    numbers.push_back(number);
  }
  return numbers;
}

StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::vector<std::string>& specs,
    const std::vector<NamedShape>& shapes, RandomTensors& random) {
  Symbols symbols;
  EMBER_RETURN_IF_ERROR(BindShapes(module, shapes, symbols));
  std::vector<NamedTensor> given;
  std::vector<std::optional<std::string>> names;
  for (const std::string& spec : specs) {
    EMBER_ASSIGN_OR_RETURN(NamedTensor tensor, ReadTensorSpec(spec, random));
    names.push_back(tensor.name);
    given.push_back(std::move(tensor));
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> numbers,
                         BindNames(module, "input", names));
  std::vector<vm::Tensor> inputs(module.inputs().size());
  for (size_t i = 0; i < given.size(); ++i) {
    const std::vector<std::optional<int64_t>> dims(given[i].tensor.dims.begin(),
                                                   given[i].tensor.dims.end());
    BindSymbols(module.inputs()[numbers[i]], dims, symbols);
    inputs[numbers[i]] = std::move(given[i].tensor);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].data != nullptr) continue;
    const vm::TensorSignature& signature = module.inputs()[i];
    EMBER_ASSIGN_OR_RETURN(
        inputs[i], random.Next(signature.type, ChooseDims(signature, symbols)));
  }
  return inputs;
}

}  // namespace ember::tools
