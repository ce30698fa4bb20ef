#include "frontends/language_models/model_tensors.h"

#include "base/one_line.h"

namespace ember::language_models {
namespace {

std::string DimsText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (const int64_t dim : dims) {
    text += (text.size() > 1 ? ", " : "") +
            (dim == kAnyExtent ? "any" : std::to_string(dim));
  }
  return text + "]";
}

bool Fits(const Shape& shape, const std::vector<int64_t>& dims) {
  if (shape.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != kAnyExtent && shape[i] != Dim(dims[i])) return false;
  return true;
}

}  // namespace

Weight ModelTensors::Failed() { return {.packed = Tensor(&builder_, nullptr)}; }

const Weight& ModelTensors::Find(std::string_view name) {
  const auto known = found_.find(name);
  if (known != found_.end()) return known->second;
  StatusOr<Weight> weight = source_.Find(name, builder_);
  if (!weight.ok()) {
    builder_.Fail(weight.status());
    weight = Failed();
  }
  return found_.emplace(std::string(name), *weight).first->second;
}

Weight ModelTensors::Checked(std::string_view name, const Weight& weight,
                             const std::vector<int64_t>& dims) {
  if (!ok()) return Failed();
  if (Fits(weight.shape(), dims)) return weight;
  builder_.Fail(InvalidArgumentError(
      "tensor '" + OnOneLine(name) + "': expected shape " + DimsText(dims) +
      ", found " + graph::ShapeToString(weight.shape())));
  return Failed();
}

Weight ModelTensors::Required(std::string_view name,
                              const std::vector<int64_t>& dims) {
  const Weight& weight = Find(name);
  if (weight) return Checked(name, weight, dims);
  builder_.Fail(InvalidArgumentError("tensor '" + OnOneLine(name) +
                                     "': expected shape " + DimsText(dims) +
                                     ", found no such tensor"));
  return Failed();
}

Weight ModelTensors::Optional(std::string_view name,
                              const std::vector<int64_t>& dims) {
  const Weight& weight = Find(name);
  return weight ? Checked(name, weight, dims) : weight;
}

Status ModelTensors::CheckAllUsed() const {
  const std::vector<std::string> unused = source_.Unused();
  if (unused.empty()) return OkStatus();
  std::string names;
  constexpr size_t kMaxNames = 5;
  for (size_t i = 0; i < unused.size() && i < kMaxNames; ++i)
    names += (i > 0 ? ", " : "") + ("'" + OnOneLine(unused[i]) + "'");
  if (unused.size() > kMaxNames)
    names += " and " + std::to_string(unused.size() - kMaxNames) + " more";
  return UnimplementedError(
      "tensors: expected only those of the architecture, found also " + names +
      ", whose meaning is not known");
}

}  // namespace ember::language_models
