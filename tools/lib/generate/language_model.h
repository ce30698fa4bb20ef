// Runs a language model token by token: keeps its state and the tokens that the
// state holds.
//
//   SharedSession shared(*session);
//   EMBER_ASSIGN_OR_RETURN(LanguageModel model,
//                          LanguageModel::Create(shared, /*context=*/512));
//   EMBER_ASSIGN_OR_RETURN(std::span<const float> logits,
//                          model.Append(prompt));   // [vocabulary]
//   EMBER_ASSIGN_OR_RETURN(logits, model.Append({{Likeliest(logits)}}));
//
// The module has the inputs and results of frontends/language_models: tokens,
// past and state, logits and state. A LanguageModel holds one sequence. Several
// of them can share a session, each with its own state.
//
// Errors: a module with other inputs; a full context; those of the session.
// Guesses (AppendAll) need a module of the entry "all", and a model without
// convolutions.
//
// A SharedSession does not own the session, and sequences do not own the
// SharedSession. A SharedSession is thread-safe: runs wait for each other.
// A LanguageModel is not thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_LANGUAGE_MODEL_H_
#define EMBER_TOOLS_LIB_GENERATE_LANGUAGE_MODEL_H_

#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "llm/generate/logit_source.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

class SharedSession {
 public:
  // Allows the session to update state tensors in place.
  explicit SharedSession(vm::Session& session);

  const vm::Module& module() const { return session_.module(); }
  // Runs the session, after waiting for other threads' runs. `owner` identifies
  // the caller, so that Cancel can stop its run only.
  Status Run(const void* owner, std::span<const vm::Tensor> inputs,
             std::vector<vm::Tensor>* results);
  // Cancels the run that `owner` has started, if it is still in progress.
  void Cancel(const void* owner);

 private:
  vm::Session& session_;
  std::mutex run_mutex_;    // locked while the session runs
  std::mutex owner_mutex_;  // Guards owner_.
  const void* owner_ = nullptr;
};

class LanguageModel : public llm::LogitSource {
 public:
  // `context`: number of tokens for which memory is allocated at first. The
  // memory grows up to `max_context` tokens; 0: it does not grow. If the module
  // has a fixed context, that replaces both numbers.
  static StatusOr<LanguageModel> Create(SharedSession& session, int64_t context,
                                        int64_t max_context = 0);

  StatusOr<std::span<const float>> Append(
      std::span<const int32_t> tokens) override;
  int64_t room() const override { return max_context_ - past(); }
  std::span<const int32_t> ids() const override { return ids_; }
  Status Truncate(int64_t length) override;
  Status CheckGuesses() const override;
  StatusOr<std::span<const float>> AppendAll(
      std::span<const int32_t> tokens) override;

  // Returns a LanguageModel with the same tokens and a copy of the state.
  StatusOr<LanguageModel> Fork() const;
  // Cancels the call of Append that is in progress on another thread, if there
  // is one; that call returns kCancelled.
  void Cancel() { session_->Cancel(this); }

  // Returns an error if appending `count` tokens would exceed the context.
  Status CheckRoom(int64_t count) const;
  // Returns the state tensors. Tensors with keys or values have the dims
  // [batch, heads, positions, size]; states of convolutions have no positions.
  std::span<const vm::Tensor> state() const {
    return std::span(inputs_).subspan(2);
  }
  static bool HasPositions(const vm::Tensor& state) {
    return state.dims.size() == 4;
  }
  // Sets the tokens of the sequence after the caller has written their state to
  // the tensors of state(), as when a file is loaded.
  void SetIds(std::vector<int32_t> ids) { ids_ = std::move(ids); }
  // Enlarges the state's memory to `context` tokens, at most max_context.
  // Tokens and state are kept, and the module needs no compilation.
  Status Grow(int64_t context);
  // Returns the number of tokens in the sequence.
  int64_t past() const { return static_cast<int64_t>(ids_.size()); }
  // Number of tokens for which the state has memory.
  int64_t context() const { return context_; }
  int64_t max_context() const { return max_context_; }
  // Number of logits per token, which is the size of the vocabulary; -1 if the
  // module leaves it open.
  int64_t vocabulary() const;
  // Size of the whole state in bytes, and the bytes that each token takes in
  // it.
  int64_t state_bytes() const;
  int64_t state_bytes_per_token() const;

 private:
  LanguageModel(SharedSession& session, int64_t context, int64_t max_context)
      : session_(&session), context_(context), max_context_(max_context) {}
  Status Run(std::span<const int32_t> tokens);

  SharedSession* session_;
  int64_t context_ = 0, max_context_ = 0;
  std::vector<int32_t> ids_;
  // The input tensors of the next run: tokens, past, and the state.
  std::vector<vm::Tensor> inputs_;
  // The result tensors of the last run: logits, and the new state.
  std::vector<vm::Tensor> results_;
};

// Returns the number of tokens with which the model was trained, according to
// the module's metadata; 0 if the metadata does not say.
int64_t TrainedContext(const vm::Module& module);

struct TokenProbability {
  int32_t token = 0;
  double probability = 0;
};

// Returns the `count` likeliest tokens, the likeliest first, with their
// probabilities at temperature 1.
std::vector<TokenProbability> LikeliestTokens(std::span<const float> logits,
                                              size_t count);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_LANGUAGE_MODEL_H_
