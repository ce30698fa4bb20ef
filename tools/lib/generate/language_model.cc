#include "tools/lib/generate/language_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "frontends/frontend.h"
#include "vm/runtime/module.h"

namespace ember::tools {
namespace {

Status WrongModule(const std::string& found) {
  return InvalidArgumentError(
      "expected a language model with the inputs 'tokens' and 'past' and state "
      "for them, found " +
      found + "; give a GGUF file or a module that was compiled from one");
}

// Returns the extents of a state for one sequence. Its open dims are the batch
// and the context; `context` becomes the one that the module fixes.
std::vector<int64_t> StateDims(const vm::TensorSignature& signature,
                               int64_t context) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    const int64_t fixed = signature.dims[i];
    dims.push_back(fixed >= 0 ? fixed : i == 0 ? 1 : context);
  }
  return dims;
}

}  // namespace

StatusOr<LanguageModel> LanguageModel::Create(vm::Session& session,
                                              int64_t context) {
  LanguageModel model(session, context);
  const vm::Module& module = session.module();
  const auto& inputs = module.inputs();
  if (inputs.size() < 2) {
    return WrongModule(std::to_string(inputs.size()) + " inputs");
  }
  if (inputs[0].name != "tokens" || inputs[1].name != "past" ||
      module.results().size() != inputs.size()) {
    return WrongModule("'" + inputs[0].name + "' and '" + inputs[1].name + "'");
  }
  model.inputs_.resize(inputs.size());
  EMBER_ASSIGN_OR_RETURN(model.inputs_[1],
                         vm::Tensor::Allocate(DType::kI64, {1}));
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i].logical_type != frontends::kStateType)
      return WrongModule("the input '" + inputs[i].name + "'");
    const std::vector<int64_t> dims = StateDims(inputs[i], context);
    if (dims.size() == 4) model.context_ = dims[2];
    EMBER_ASSIGN_OR_RETURN(model.inputs_[i],
                           vm::Tensor::Allocate(inputs[i].type, dims));
  }
  // The state is updated in place.
  std::vector<bool> is_state(inputs.size(), true);
  is_state[0] = is_state[1] = false;
  session.AllowOverwriting(std::move(is_state));
  return model;
}

StatusOr<std::span<const float>> LanguageModel::Append(
    std::span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count < 1) return InvalidArgumentError("tokens: expected one or more");
  if (count > context_ - past_) {
    return ResourceExhaustedError("the context is full: expected at most " +
                                  std::to_string(context_) + " tokens, found " +
                                  std::to_string(past_ + count) +
                                  "; give a larger --context");
  }
  inputs_[0] = vm::Tensor::Borrow(DType::kI32, {1, count}, tokens.data());
  inputs_[1].elements<int64_t>()[0] = past_;
  EMBER_RETURN_IF_ERROR(session_->Run(inputs_, &results_));
  for (size_t i = 2; i < results_.size(); ++i)
    std::swap(inputs_[i], results_[i]);
  past_ += count;
  const std::span<const float> logits =
      std::as_const(results_[0]).elements<float>();
  // A model of the entry "all" has logits of each position.
  return logits.last(static_cast<size_t>(results_[0].dims.back()));
}

int64_t LanguageModel::state_bytes() const {
  int64_t bytes = 0;
  for (size_t i = 2; i < inputs_.size(); ++i) bytes += inputs_[i].byte_size;
  return bytes;
}

std::vector<TokenProbability> LikeliestTokens(std::span<const float> logits,
                                              size_t count) {
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  count = std::min(count, order.size());
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(count),
                    order.end(), [&](int32_t a, int32_t b) {
                      const float x = logits[static_cast<size_t>(a)];
                      const float y = logits[static_cast<size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  const float most =
      count == 0 ? 0 : logits[static_cast<size_t>(order.front())];
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - most);
  std::vector<TokenProbability> likeliest;
  for (size_t i = 0; i < count; ++i) {
    const double logit = logits[static_cast<size_t>(order[i])];
    likeliest.push_back({order[i], std::exp(logit - most) / sum});
  }
  return likeliest;
}

}  // namespace ember::tools
