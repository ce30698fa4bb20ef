#include "vm/runtime/signature.h"

#include <string>

#include "base/concat.h"
#include "vm/runtime/module.h"

namespace ember::vm {

Status SymbolValues::BindInputs(std::span<const Tensor> inputs) {
  Reset();
  if (inputs.size() != program_.inputs.size()) {
    std::string names;
    for (const TensorSignature& input : program_.inputs) {
      names += (names.empty() ? "" : ", ") + input.name;
    }
    return InvalidArgumentError(
        Concat({"inputs: expected ", program_.inputs.size(), " (", names,
                "), found ", inputs.size()}));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    EMBER_RETURN_IF_ERROR(BindInput(program_.inputs[i], inputs[i]));
  }
  return OkStatus();
}

Status SymbolValues::BindInput(const TensorSignature& signature,
                               const Tensor& tensor) {
  const auto error = [&](const std::string& expected,
                         const std::string& found) {
    return InvalidArgumentError(
        Concat({"input '", signature.name, "': expected ", expected, ", found ",
                found}));
  };
  const bool is_string = signature.logical_type == kStringType;
  bool fits = tensor.type == signature.type &&
              tensor.dims.size() == signature.dims.size() &&
              (tensor.strings != nullptr) == is_string;
  for (size_t i = 0; fits && i < signature.dims.size(); ++i) {
    const int64_t declared = signature.dims[i];
    const int64_t extent = tensor.dims[i];
    fits = extent >= 0 && (declared < 0 || declared == extent);
  }
  if (!fits)
    return error(SignatureText(program_, signature), tensor.TypeText());
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    if (Fits(signature.dims[i], tensor.dims[i], signature)) continue;
    const size_t symbol = static_cast<size_t>(-1 - signature.dims[i]);
    return error(Concat({program_.symbols[symbol], " = ", values_[symbol],
                         " as in input '", sources_[symbol]->name, "'"}),
                 Concat({tensor.dims[i], " in ", tensor.TypeText()}));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         TensorByteSize(tensor.type, tensor.dims));
  if (tensor.byte_size != bytes) {
    return error(Concat({bytes, " bytes for ", tensor.TypeText()}),
                 std::to_string(tensor.byte_size));
  }
  if (is_string) {
    const size_t count = tensor.strings->size();
    if (count == static_cast<uint64_t>(tensor.element_count()))
      return OkStatus();
    return error(Concat({tensor.element_count(), " strings"}),
                 std::to_string(count));
  }
  if (tensor.data == nullptr && bytes > 0)
    return error("data", "a null pointer");
  return OkStatus();
}

bool SymbolValues::Fits(int64_t declared, int64_t extent,
                        const TensorSignature& source) {
  if (declared >= 0) return declared == extent;
  const size_t symbol = static_cast<size_t>(-1 - declared);
  // "?" stands for any number, at each place another.
  if (program_.symbols[symbol] == "?") return true;
  if (values_[symbol] < 0) {
    values_[symbol] = extent;
    sources_[symbol] = &source;
  }
  return values_[symbol] == extent;
}

Status SymbolValues::CheckResult(const TensorSignature& result,
                                 std::span<const int64_t> dims) {
  bool fits = true;
  for (size_t i = 0; i < dims.size(); ++i) {
    fits &= dims[i] >= 0 && Fits(result.dims[i], dims[i], result);
  }
  if (fits) return OkStatus();
  return InvalidArgumentError(Concat(
      {"result '", result.name, "': expected ", SignatureText(program_, result),
       ", found ", TensorTypeText(result.type, dims)}));
}

}  // namespace ember::vm
