// The loop that continues a sequence of tokens: logits, a chosen token, its
// logits, again. It knows neither texts nor how tokens are chosen.
//
//   class Likeliest : public TokenChooser { ... };
//   EMBER_ASSIGN_OR_RETURN(const TokenLoopResult result,
//                          RunTokenLoop(source, prompt, options, chooser));
//
// The token that ends the loop is not appended: the sequence then has the
// prompt and all chosen tokens but the last one.
//
// Guesses: the loop appends tokens that may follow together with the chosen
// one, and keeps those that the chooser chooses. A step of several tokens costs
// about as much as one token where reading the weights takes the time. The
// chooser sees the same logits as without guesses, up to the rounding of sums,
// in the same order.
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
  kNoRoom,  // The state is full.
  kCancelled,
};

class TokenChooser {
 public:
  virtual ~TokenChooser() = default;
  // Returns a token. `logits` are valid during the call.
  virtual StatusOr<int32_t> Choose(std::span<const float> logits) = 0;
  // Takes the token that Choose returned. A reason ends the loop.
  virtual StatusOr<std::optional<EndReason>> Take(int32_t id) = 0;
};

struct TokenLoopOptions {
  int64_t max_tokens = -1;     // -1: as many as the state has room for.
  int64_t prompt_chunk = 512;  // Most tokens of the prompt appended at once.
  int64_t guesses = 0;         // Most tokens guessed per step; 0: none.
  // The logits behind the last token of the source, if the caller has them; the
  // prompt may then be empty.
  std::span<const float> first_logits;
  // Is asked before each step; true ends the loop. A step that the source
  // cancels while this is true ends the loop, too.
  std::function<bool()> is_cancelled;
};

struct TokenLoopResult {
  EndReason reason = EndReason::kMaxTokens;
  int64_t prompt_tokens = 0;     // Tokens of the prompt that were appended.
  int64_t generated_tokens = 0;  // Tokens that the chooser took.
  int64_t guessed_tokens = 0, right_guesses = 0;
  double prompt_seconds = 0;    // Until the logits of the first token.
  double generate_seconds = 0;  // From then on.
};

// Continues the sequence of the source by `prompt`, at least one token unless
// there are first logits, and then by tokens of the chooser.
StatusOr<TokenLoopResult> RunTokenLoop(LogitSource& source,
                                       std::span<const int32_t> prompt,
                                       const TokenLoopOptions& options,
                                       TokenChooser& chooser);

}  // namespace ember::llm

#endif  // EMBER_LLM_GENERATE_TOKEN_LOOP_H_
