#include "frontends/language_models/layer_context.h"

#include "frontends/language_models/packed_product.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/functions.h"
#include "frontends/ops/normalization.h"

namespace ember::language_models {

Tensor Standardize(Tensor x, Norm norm, double epsilon) {
  const int last = x.rank() - 1;
  if (norm == Norm::kLayer) return ops::Standardized(x, {last}, epsilon);
  return x / ops::Sqrt(ops::Mean(x * x, {last}, true) + epsilon);
}

Tensor LayerContext::Linear(Tensor x, std::string_view name, int64_t rows,
                            int64_t columns) const {
  const Weight weight =
      tensors.Required(Name(name) + ".weight", {rows, columns});
  Tensor y = TimesRows(x, weight);
  const Weight bias = tensors.Optional(Name(name) + ".bias", {rows});
  return bias ? y + bias.Values() : y;
}

Tensor LayerContext::Normalize(Tensor x, std::string_view name,
                               int64_t size) const {
  const Weight weight = tensors.Required(Name(name) + ".weight", {size});
  Tensor y =
      Standardize(x, architecture().norm, options.epsilon) * weight.Values();
  const Weight bias = tensors.Optional(Name(name) + ".bias", {size});
  return bias ? y + bias.Values() : y;
}

Tensor LayerContext::NormalizeIfPresent(Tensor x, std::string_view name,
                                        int64_t size) const {
  return tensors.Has(Name(name) + ".weight") ? Normalize(x, name, size) : x;
}

Tensor LayerContext::TokensOf(const Sequence& sequence, Tensor x) const {
  if (sequences.size() == 1) return x;
  return ops::SliceAxis(x, 1, sequence.begin, sequence.count);
}

Tensor LayerContext::TokenPositions() const {
  std::vector<Tensor> parts;
  for (const Sequence& sequence : sequences) {
    parts.push_back(ops::IotaVector(builder(), sequence.count, DType::kI64) +
                    ops::DimScalar(builder(), sequence.past));
  }
  return parts.size() == 1 ? parts[0] : ops::Concat(parts, 0);
}

Tensor JoinTokens(const std::vector<Tensor>& parts) {
  return parts.size() == 1 ? parts[0] : ops::Concat(parts, 1);
}

Tensor LayerContext::Activate(Tensor x) const {
  switch (architecture().activation) {
    case Activation::kSilu:
      return ops::Silu(x);
    case Activation::kGelu:
      return ops::Gelu(x);
    case Activation::kTanhGelu:
      return ops::TanhGelu(x);
  }
  return x;
}

}  // namespace ember::language_models
