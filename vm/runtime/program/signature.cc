#include "vm/runtime/program/signature.h"

#include <string>

#include "base/concat.h"
#include "vm/runtime/module.h"

namespace ember::vm {

namespace {

bool FitsDeclared(const TensorSignature& signature,
                  std::span<const int64_t> dims) {
  bool fits = dims.size() == signature.dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    const int64_t declared = signature.dims[i];
    fits = dims[i] >= 0 && (declared < 0 || declared == dims[i]);
  }
  return fits;
}

Status InputError(const TensorSignature& signature, std::string_view expected,
                  std::string_view found) {
  return InvalidArgumentError(Concat({"input '", signature.name, "': expected ",
                                      expected, ", found ", found}));
}

}  // namespace

void SymbolValues::Reset() {
  values_.assign(program_.symbols.size(), -1);
  sources_.assign(program_.symbols.size(), nullptr);
}

Status SymbolValues::CheckCount(size_t found) const {
  if (found == program_.inputs.size()) return OkStatus();
  std::string names;
  for (const TensorSignature& input : program_.inputs) {
    names += (names.empty() ? "" : ", ") + input.name;
  }
  return InvalidArgumentError(
      Concat({"inputs: expected ", program_.inputs.size(), " (", names,
              "), found ", found}));
}

Status SymbolValues::BindInputs(std::span<const Tensor> inputs) {
  Reset();
  EMBER_RETURN_IF_ERROR(CheckCount(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    EMBER_RETURN_IF_ERROR(BindInput(program_.inputs[i], inputs[i]));
  }
  return OkStatus();
}

Status SymbolValues::BindShapes(std::span<const std::vector<int64_t>> shapes) {
  Reset();
  EMBER_RETURN_IF_ERROR(CheckCount(shapes.size()));
  for (size_t i = 0; i < shapes.size(); ++i) {
    const TensorSignature& input = program_.inputs[i];
    if (!FitsDeclared(input, shapes[i])) {
      return InputError(input, SignatureText(program_, input),
                        TensorTypeText(input.type, shapes[i]));
    }
    EMBER_RETURN_IF_ERROR(BindDims(input, shapes[i]));
  }
  return OkStatus();
}

Status SymbolValues::BindDims(const TensorSignature& signature,
                              std::span<const int64_t> dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (Fits(signature.dims[i], dims[i], signature)) continue;
    const size_t symbol = static_cast<size_t>(-1 - signature.dims[i]);
    return InputError(
        signature,
        Concat({program_.symbols[symbol], " = ", values_[symbol],
                " as in input '", sources_[symbol]->name, "'"}),
        Concat({dims[i], " in ", TensorTypeText(signature.type, dims),
                " (compile with --separate-dims if dims of this name may "
                "be unequal)"}));
  }
  return OkStatus();
}

Status SymbolValues::BindInput(const TensorSignature& signature,
                               const Tensor& tensor) {
  const bool is_string = signature.logical_type == kStringType;
  if (tensor.type != signature.type ||
      (tensor.strings != nullptr) != is_string ||
      !FitsDeclared(signature, tensor.dims)) {
    return InputError(signature, SignatureText(program_, signature),
                      tensor.TypeText());
  }
  EMBER_RETURN_IF_ERROR(BindDims(signature, tensor.dims));
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         TensorByteSize(tensor.type, tensor.dims));
  if (tensor.byte_size != bytes) {
    return InputError(signature,
                      Concat({bytes, " bytes for ", tensor.TypeText()}),
                      Concat({tensor.byte_size}));
  }
  if (is_string) {
    const size_t count = tensor.strings->size();
    if (count == static_cast<uint64_t>(tensor.element_count()))
      return OkStatus();
    return InputError(signature, Concat({tensor.element_count(), " strings"}),
                      Concat({count}));
  }
  if (tensor.data == nullptr && bytes > 0)
    return InputError(signature, "data", "a null pointer");
  return OkStatus();
}

bool SymbolValues::Fits(int64_t declared, int64_t extent,
                        const TensorSignature& source) {
  if (declared >= 0) return declared == extent;
  const size_t symbol = static_cast<size_t>(-1 - declared);
  // "?" means an unknown extent, which may differ at each use.
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
