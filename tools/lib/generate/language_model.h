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
// past and state, logits and state. A LanguageModel is one sequence; several
// sequences of one session have states of their own.
//
// Errors: a module with other inputs; a full context; those of the session.
// Guesses need a module of the entry "all", and a state without convolutions.
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
  // Lets the session update state in place.
  explicit SharedSession(vm::Session& session);

  const vm::Module& module() const { return session_.module(); }
  // Runs the session when no other run is in progress. `owner` names the run
  // for Cancel.
  Status Run(const void* owner, std::span<const vm::Tensor> inputs,
             std::vector<vm::Tensor>* results);
  // Cancels the run of this owner, if it is in progress.
  void Cancel(const void* owner);

 private:
  vm::Session& session_;
  std::mutex run_mutex_;    // Held while the session runs.
  std::mutex owner_mutex_;  // Guards owner_.
  const void* owner_ = nullptr;
};

class LanguageModel : public llm::LogitSource {
 public:
  // `context`: number of tokens that the state has memory for. When it is full,
  // the memory grows to at most `max_context` tokens; 0: it does not grow. A
  // dim that the module fixes replaces both.
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

  // Returns a sequence of the same tokens with a copy of the state.
  StatusOr<LanguageModel> Fork() const;
  // Cancels the Append that is in progress, if there is one; it returns
  // kCancelled. May be called on any thread.
  void Cancel() { session_->Cancel(this); }

  // Returns the error of an append of so many tokens if the context is full.
  Status CheckRoom(int64_t count) const;
  // Returns the tensors of the state. Those that have positions are [batch,
  // heads, positions, size].
  std::span<const vm::Tensor> state() const {
    return std::span(inputs_).subspan(2);
  }
  static bool HasPositions(const vm::Tensor& state) {
    return state.dims.size() == 4;
  }
  // Sets the tokens of a sequence whose state was written to the memory of
  // state().
  void SetIds(std::vector<int32_t> ids) { ids_ = std::move(ids); }
  // Makes memory for so many tokens, at most max_context. The tokens so far and
  // their state stay. The module is the same for each length.
  Status Grow(int64_t context);
  // Number of tokens so far.
  int64_t past() const { return static_cast<int64_t>(ids_.size()); }
  // Number of tokens that the state has memory for now.
  int64_t context() const { return context_; }
  int64_t max_context() const { return max_context_; }
  // Number of logits of a token; -1 if the module leaves it open.
  int64_t vocabulary() const;
  // Bytes of the state, and of each token in it.
  int64_t state_bytes() const;
  int64_t state_bytes_per_token() const;

 private:
  LanguageModel(SharedSession& session, int64_t context, int64_t max_context)
      : session_(&session), context_(context), max_context_(max_context) {}
  Status Run(std::span<const int32_t> tokens);

  SharedSession* session_;
  int64_t context_ = 0, max_context_ = 0;
  std::vector<int32_t> ids_;
  // Inputs of the next run: tokens, past, state.
  std::vector<vm::Tensor> inputs_;
  // Results of the last run: logits, state.
  std::vector<vm::Tensor> results_;
};

// Returns the number of tokens that the model was trained with, as its module's
// metadata says; 0 if it does not.
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
