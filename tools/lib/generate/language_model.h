// Runs a language model token by token: keeps its state and the number of
// tokens that the state holds.
//
//   EMBER_ASSIGN_OR_RETURN(LanguageModel model,
//                          LanguageModel::Create(*session, /*context=*/512));
//   EMBER_ASSIGN_OR_RETURN(std::span<const float> logits,
//                          model.Append(prompt));   // [vocabulary]
//   EMBER_ASSIGN_OR_RETURN(logits, model.Append({{Likeliest(logits)}}));
//
// The module has the inputs and results of frontends/language_models: tokens,
// past and state, logits and state. One sequence.
//
// Errors: a module with other inputs; a full context; those of the session.
// Does not own the session. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_LANGUAGE_MODEL_H_
#define EMBER_TOOLS_LIB_GENERATE_LANGUAGE_MODEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

class LanguageModel {
 public:
  // `context`: number of tokens that the state has memory for. A dim that the
  // module fixes replaces it.
  static StatusOr<LanguageModel> Create(vm::Session& session, int64_t context);

  // Appends tokens to the sequence. Returns the logits of the token after the
  // last one, which are valid until the next call.
  StatusOr<std::span<const float>> Append(std::span<const int32_t> tokens);

  // Number of tokens so far.
  int64_t past() const { return past_; }
  int64_t context() const { return context_; }
  // Bytes of the state.
  int64_t state_bytes() const;

 private:
  LanguageModel(vm::Session& session, int64_t context)
      : session_(&session), context_(context) {}

  vm::Session* session_;
  int64_t context_ = 0, past_ = 0;
  // Inputs of the next run: tokens, past, state.
  std::vector<vm::Tensor> inputs_;
  // Results of the last run: logits, state.
  std::vector<vm::Tensor> results_;
};

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
