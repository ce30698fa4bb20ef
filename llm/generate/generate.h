// Continues a prompt as text: tokens of llm/generate/token_loop.h that a
// sampler chooses, and their text as it is made.
//
//   GenerateOptions options;
//   options.stop = {"\n\n"};
//   options.on_text = [](std::string_view text) { Print(text); return true; };
//   EMBER_ASSIGN_OR_RETURN(
//       const Generation generation,
//       Generate(tokenizer, logits, prompt_ids, options));
//
// The loop knows no model: LogitSource is what it needs of one. The source then
// has the prompt and all generated tokens but the last one. Errors are those of
// the source, wrong options, and a prompt that is empty, too long, or has ids
// that the vocabulary lacks. Thread-compatible.
#ifndef EMBER_LLM_GENERATE_GENERATE_H_
#define EMBER_LLM_GENERATE_GENERATE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/generate/logit_source.h"
#include "llm/generate/token_loop.h"
#include "llm/grammar/json_machine.h"
#include "llm/grammar/vocabulary_trie.h"
#include "llm/sampling/sampler.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {

struct GenerateOptions {
  SamplingOptions sampling;
  int64_t max_tokens = -1;  // -1: as many as the state has room for.
  std::vector<std::string> stop;
  // Tokens that end the text, in addition to those of the tokenizer.
  std::vector<int32_t> stop_ids;
  // The text is JSON; needs `trie`, which must be that of the tokenizer's
  // vocabulary and outlive the call.
  std::optional<JsonLimits> json;
  const VocabularyTrie* trie = nullptr;
  int64_t prompt_chunk = 512;  // Most tokens of the prompt appended at once.
  // Most tokens that are guessed from the text so far and checked in one step;
  // 0: none. Guesses change no result, up to the rounding of sums.
  int64_t guesses = 0;
  // TokenLoopOptions::first_logits
  std::span<const float> first_logits;
  // Writes control tokens by their names.
  bool render_special = false;
  // Receives the text as it is made, in valid UTF-8; false ends the generation.
  std::function<bool(std::string_view text)> on_text;
  // Is asked before each call of Append; true ends the generation.
  std::function<bool()> is_cancelled;
};

struct Generation {
  std::string text;          // All text that on_text received.
  std::vector<int32_t> ids;  // Without the token that ended the generation.
  TokenLoopResult loop;      // The reason of the end, counts and times.
  EndReason reason() const { return loop.reason; }
};

StatusOr<Generation> Generate(const Tokenizer& tokenizer, LogitSource& logits,
                              std::span<const int32_t> prompt,
                              const GenerateOptions& options);

}  // namespace ember::llm

#endif  // EMBER_LLM_GENERATE_GENERATE_H_
