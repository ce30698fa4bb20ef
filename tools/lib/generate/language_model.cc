#include "tools/lib/generate/language_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "frontends/frontend.h"
#include "vm/isa/model_metadata.h"
#include "vm/runtime/module.h"

namespace ember::tools {
namespace {

// A state tensor with keys or values has the dims [batch, heads, context,
// size]; the tensor of logits has [batch, positions, vocabulary].
constexpr size_t kStateRank = 4, kContextDim = 2, kLogitRank = 3;

Status WrongModule(const std::string& found) {
  return InvalidArgumentError(
      "expected a language model with the inputs 'tokens' and 'past' and state "
      "for them, found " +
      found + "; give a GGUF file or a module that was compiled from one");
}

// Returns the dims of a state tensor for one sequence. An open first dim (the
// batch) becomes 1, other open dims become `context`.
std::vector<int64_t> StateDims(const vm::TensorSignature& signature,
                               int64_t context) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    const int64_t fixed = signature.dims[i];
    dims.push_back(fixed >= 0 ? fixed : i == 0 ? 1 : context);
  }
  return dims;
}

// Returns a positive number that a frontend has stored in the module's
// metadata, or 0 if there is none.
int64_t NumberInMetadata(const vm::Module& module, std::string_view key) {
  for (const std::string_view format : {"gguf", "safetensors"}) {
    const vm::MetadataEntry* const entry = vm::FindMetadata(
        module.definition().metadata, Concat({format, ".", key}));
    if (entry == nullptr) continue;
    int64_t number = 0;
    const std::string_view text = entry->value;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && number > 0) return number;
  }
  return 0;
}

}  // namespace

SharedSession::SharedSession(vm::Session& session) : session_(session) {
  const auto& inputs = session.module().inputs();
  std::vector<bool> is_state(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    is_state[i] = inputs[i].name != "past" &&
                  inputs[i].logical_type == frontends::kStateType;
  }
  session.AllowOverwriting(is_state);
}

Status SharedSession::Run(const void* owner, std::span<const vm::Tensor> inputs,
                          std::vector<vm::Tensor>* results) {
  const std::lock_guard<std::mutex> run(run_mutex_);
  {
    const std::lock_guard<std::mutex> lock(owner_mutex_);
    owner_ = owner;
  }
  const Status status = session_.Run(inputs, results);
  const std::lock_guard<std::mutex> lock(owner_mutex_);
  owner_ = nullptr;
  return status;
}

void SharedSession::Cancel(const void* owner) {
  const std::lock_guard<std::mutex> lock(owner_mutex_);
  if (owner_ == owner) session_.Cancel();
}

StatusOr<LanguageModel> LanguageModel::Create(SharedSession& session,
                                              int64_t context,
                                              int64_t max_context) {
  const vm::Module& module = session.module();
  max_context = std::max(context, max_context);
  // In models with a fixed context the rotary embedding depends on the size of
  // the state. Keys computed with a small state would be wrong in a larger one,
  // so the state has its largest size from the beginning.
  if (NumberInMetadata(module, "fixed_context") > 0) context = max_context;
  LanguageModel model(session, context, max_context);
  const auto& inputs = module.inputs();
  if (inputs.size() < 2) {
    return WrongModule(std::to_string(inputs.size()) + " inputs");
  }
  if (inputs[0].name != "tokens" || inputs[1].name != "past" ||
      module.results().size() != inputs.size()) {
    return WrongModule("'" + inputs[0].name + "' and '" + inputs[1].name + "'");
  }
  if (module.results()[0].type != DType::kF32 ||
      module.results()[0].dims.size() != kLogitRank) {
    return WrongModule("the result '" + module.results()[0].name + "'");
  }
  model.inputs_.resize(inputs.size());
  EMBER_ASSIGN_OR_RETURN(model.inputs_[1],
                         vm::Tensor::Allocate(DType::kI64, {1}));
  for (size_t i = 2; i < inputs.size(); ++i) {
    if (inputs[i].logical_type != frontends::kStateType)
      return WrongModule("the input '" + inputs[i].name + "'");
    const std::vector<int64_t> dims = StateDims(inputs[i], context);
    if (dims.size() == kStateRank) {
      model.context_ = dims[kContextDim];
      if (inputs[i].dims[kContextDim] >= 0) model.max_context_ = model.context_;
    }
    EMBER_ASSIGN_OR_RETURN(model.inputs_[i],
                           vm::Tensor::Allocate(inputs[i].type, dims));
  }
  return model;
}

Status LanguageModel::CheckRoom(int64_t count) const {
  if (count <= room()) return OkStatus();
  return ResourceExhaustedError(
      "the context is full: expected at most " + std::to_string(max_context_) +
      " tokens, found " + std::to_string(past() + count) +
      "; give a larger --context");
}

Status LanguageModel::Grow(int64_t context) {
  if (context > max_context_) {
    return ResourceExhaustedError("state: expected at most " +
                                  std::to_string(max_context_) +
                                  " tokens, found " + std::to_string(context));
  }
  if (context <= context_) return OkStatus();
  std::vector<vm::Tensor> grown(inputs_.size());
  for (size_t i = 2; i < inputs_.size(); ++i) {
    const vm::Tensor& old = inputs_[i];
    if (!HasPositions(old)) continue;
    std::vector<int64_t> dims = old.dims;
    dims[kContextDim] = context;
    EMBER_ASSIGN_OR_RETURN(grown[i], vm::Tensor::Allocate(old.type, dims));
    const int64_t rows = dims[0] * dims[1];
    const int64_t from = rows == 0 ? 0 : old.byte_size / rows;
    const int64_t to = rows == 0 ? 0 : grown[i].byte_size / rows;
    const int64_t used = context_ == 0 ? 0 : from / context_ * past();
    for (int64_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<char*>(grown[i].data) + row * to,
                  static_cast<const char*>(old.data) + row * from,
                  static_cast<size_t>(used));
    }
  }
  for (size_t i = 2; i < inputs_.size(); ++i) {
    if (HasPositions(inputs_[i])) inputs_[i] = std::move(grown[i]);
  }
  results_.clear();
  context_ = context;
  return OkStatus();
}

Status LanguageModel::Run(std::span<const int32_t> tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count < 1) return InvalidArgumentError("tokens: expected one or more");
  EMBER_RETURN_IF_ERROR(CheckRoom(count));
  if (past() + count > context_) {
    EMBER_RETURN_IF_ERROR(
        Grow(std::min(max_context_, std::max(2 * context_, past() + count))));
  }
  inputs_[0] = vm::Tensor::Borrow(DType::kI32, {1, count}, tokens.data());
  inputs_[1].elements<int64_t>()[0] = past();
  EMBER_RETURN_IF_ERROR(session_->Run(this, inputs_, &results_));
  for (size_t i = 2; i < results_.size(); ++i)
    std::swap(inputs_[i], results_[i]);
  ids_.insert(ids_.end(), tokens.begin(), tokens.end());
  return OkStatus();
}

StatusOr<std::span<const float>> LanguageModel::Append(
    std::span<const int32_t> tokens) {
  EMBER_RETURN_IF_ERROR(Run(tokens));
  const std::span<const float> logits =
      std::as_const(results_[0]).elements<float>();
  // A module of the entry "all" computes logits for every position; only the
  // last row is returned.
  return logits.last(static_cast<size_t>(results_[0].dims.back()));
}

StatusOr<std::span<const float>> LanguageModel::AppendAll(
    std::span<const int32_t> tokens) {
  EMBER_RETURN_IF_ERROR(CheckGuesses());
  EMBER_RETURN_IF_ERROR(Run(tokens));
  return std::as_const(results_[0]).elements<float>();
}

Status LanguageModel::CheckGuesses() const {
  if (session_->module().results()[0].dims[1] == 1) {
    return FailedPreconditionError(
        "guesses: expected a module with logits of all positions, found one "
        "with those of the last position; compile it with --entry=all");
  }
  for (size_t i = 2; i < inputs_.size(); ++i) {
    if (inputs_[i].dims.size() == kStateRank) continue;
    return UnimplementedError(
        "guesses: expected a model whose state is keys and values, found the "
        "state '" +
        session_->module().inputs()[i].name + "'; generate without guesses");
  }
  return OkStatus();
}

Status LanguageModel::Truncate(int64_t length) {
  if (length < 0 || length > past()) {
    return InvalidArgumentError("sequence: expected a length of at most " +
                                std::to_string(past()) + ", found " +
                                std::to_string(length));
  }
  if (length == past()) return OkStatus();
  for (size_t i = 2; i < inputs_.size(); ++i) {
    // Keys and values need no change, because the model does not read positions
    // from `length` on.
    if (inputs_[i].dims.size() == kStateRank) continue;
    if (length > 0) {
      return UnimplementedError(
          "sequence: expected the length 0, because the state '" +
          session_->module().inputs()[i].name +
          "' is that of the last tokens, found " + std::to_string(length));
    }
    EMBER_ASSIGN_OR_RETURN(
        inputs_[i], vm::Tensor::Allocate(inputs_[i].type, inputs_[i].dims));
  }
  ids_.resize(static_cast<size_t>(length));
  return OkStatus();
}

StatusOr<LanguageModel> LanguageModel::Fork() const {
  LanguageModel fork(*session_, context_, max_context_);
  fork.ids_ = ids_;
  fork.inputs_.resize(inputs_.size());
  for (size_t i = 1; i < inputs_.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        fork.inputs_[i],
        vm::Tensor::Allocate(inputs_[i].type, inputs_[i].dims));
    std::memcpy(fork.inputs_[i].data, inputs_[i].data,
                static_cast<size_t>(inputs_[i].byte_size));
  }
  return fork;
}

int64_t LanguageModel::vocabulary() const {
  return session_->module().results()[0].dims.back();
}

int64_t LanguageModel::state_bytes() const {
  int64_t bytes = 0;
  for (size_t i = 2; i < inputs_.size(); ++i) bytes += inputs_[i].byte_size;
  return bytes;
}

int64_t LanguageModel::state_bytes_per_token() const {
  int64_t bytes = 0;
  for (size_t i = 2; i < inputs_.size(); ++i) {
    const vm::Tensor& state = inputs_[i];
    if (state.dims.size() == kStateRank && state.dims[kContextDim] > 0)
      bytes += state.byte_size / state.dims[kContextDim];
  }
  return bytes;
}

int64_t TrainedContext(const vm::Module& module) {
  return NumberInMetadata(module, "context_length");
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
