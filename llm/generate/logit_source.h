// The interface of a model that computes logits for one sequence of tokens,
// which it keeps as its state.
//
//   EMBER_ASSIGN_OR_RETURN(std::span<const float> logits,
//                          source.Append(prompt));
//   EMBER_RETURN_IF_ERROR(source.Truncate(4));   // forget all but 4 tokens
//
// Every source can append tokens. Truncate and AppendAll are for chats, which
// replace the end of a sequence, and for guesses, which are appended before
// they are known to be right. A source that lacks them returns Unimplemented.
//
// After an error of a function the sequence is as before the call.
// Thread-compatible.
#ifndef EMBER_LLM_GENERATE_LOGIT_SOURCE_H_
#define EMBER_LLM_GENERATE_LOGIT_SOURCE_H_

#include <cstdint>
#include <span>

#include "base/status.h"

namespace ember::llm {

class LogitSource {
 public:
  virtual ~LogitSource() = default;
  // Appends one or more tokens. Returns the logits of the token that follows
  // them, one for each token of the vocabulary; valid until the next call.
  virtual StatusOr<std::span<const float>> Append(
      std::span<const int32_t> ids) = 0;
  // Number of tokens that can still be appended before the state is full.
  virtual int64_t room() const = 0;

  // Returns the tokens of the sequence; valid until the next call.
  virtual std::span<const int32_t> ids() const { return {}; }
  // Removes all tokens except the first `length`. A source whose state cannot
  // be shortened accepts at least the length 0.
  virtual Status Truncate(int64_t /*length*/) {
    return UnimplementedError("the state of this model cannot be shortened");
  }
  // Returns OK if the source can check guesses, which needs AppendAll, and
  // Truncate for any length.
  virtual Status CheckGuesses() const {
    return UnimplementedError("this model cannot check guesses");
  }
  // Appends tokens as Append does. Returns a row of logits after each of them.
  virtual StatusOr<std::span<const float>> AppendAll(
      std::span<const int32_t> /*ids*/) {
    return CheckGuesses();
  }
};

}  // namespace ember::llm

#endif  // EMBER_LLM_GENERATE_LOGIT_SOURCE_H_
