// The loop that continues a sequence of tokens: the logits are computed, a
// token is chosen by them, the token is appended, and so on. It deals neither
// with text nor with the way in which tokens are chosen.
//
//   class Likeliest : public TokenChooser { ... };
//   EMBER_ASSIGN_OR_RETURN(const TokenLoopResult result,
//                          RunTokenLoop(source, prompt, options, chooser));
//
// The token that ends the loop is not appended, so that afterwards the sequence
// has the prompt and all chosen tokens except the last one.
//
// Guesses: together with the chosen token, the loop appends tokens that may
// follow it. It keeps those that the chooser then chooses, and removes the
// others. A step of several tokens costs about as much as one token where
// reading the weights takes the time. The chooser sees the same logits as
// without guesses, up to the rounding of sums, in the same order.
//
// Errors are those of the source and of the chooser, and guesses that the
// source cannot check. Thread-compatible.
#ifndef EMBER_LLM_GENERATE_TOKEN_LOOP_H_
#define EMBER_LLM_GENERATE_TOKEN_LOOP_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/status.h"
#include "llm/generate/logit_source.h"

namespace ember::llm {

enum class EndReason : uint8_t {
  kEndToken,
  kStopString,
  kMaxTokens,
  kNoRoom,  // Reason of the loop's end: the state has no room for another
            // token.
  kCancelled,
};

class TokenChooser {
 public:
  virtual ~TokenChooser() = default;
  // Chooses the next token by the logits, which are valid only during the call.
  virtual StatusOr<int32_t> Choose(std::span<const float> logits) = 0;
  // Accepts the token that Choose returned. If it returns a reason, the loop
  // ends.
  virtual StatusOr<std::optional<EndReason>> Take(int32_t id) = 0;
};

struct TokenLoopOptions {
  int64_t max_tokens = -1;     // largest number of tokens to generate; -1:
                               // until the state is full
  int64_t prompt_chunk = 512;  // largest number of the prompt's tokens that are
                               // appended in one call
  int64_t guesses = 0;         // largest number of tokens that are guessed in a
                               // step; 0: none
  // The logits after the source's sequence, if the caller has them. With them
  // the prompt may be empty.
  std::span<const float> first_logits;
  // Called before each step. Returns true to end the loop, also if the source
  // has cancelled a step because of it.
  std::function<bool()> is_cancelled;
};

struct TokenLoopResult {
  EndReason reason = EndReason::kMaxTokens;
  int64_t prompt_tokens = 0;     // number of the prompt's tokens that were
                                 // appended
  int64_t generated_tokens = 0;  // number of tokens that the chooser has
                                 // accepted
  int64_t guessed_tokens = 0, right_guesses = 0;
  double prompt_seconds = 0;    // time from the beginning until the logits
                                // after the prompt
  double generate_seconds = 0;  // time from those logits until the end
};

// Appends `prompt` to the source's sequence, and then continues it with tokens
// of the chooser. The prompt may be empty only if first_logits are given.
StatusOr<TokenLoopResult> RunTokenLoop(LogitSource& source,
                                       std::span<const int32_t> prompt,
                                       const TokenLoopOptions& options,
                                       TokenChooser& chooser);

}  // namespace ember::llm

#endif  // EMBER_LLM_GENERATE_TOKEN_LOOP_H_
