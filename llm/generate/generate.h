// Generates text that continues a prompt: runs the loop of
// llm/generate/token_loop.h with a sampler that chooses tokens, and decodes
// them to text as they are made.
//
//   GenerateOptions options;
//   options.stop = {"\n\n"};
//   options.on_text = [](std::string_view text) { Print(text); return true; };
//   EMBER_ASSIGN_OR_RETURN(
//       const Generation generation,
//       Generate(tokenizer, logits, prompt_ids, options));
//
// The loop works with any model that implements LogitSource. Afterwards the
// source's sequence has the prompt and all generated tokens except the last
// one. Errors are those of the source, wrong options, and a prompt that is
// empty, too long, or has ids that the vocabulary lacks. Thread-compatible.
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
  int64_t max_tokens = -1;  // largest number of tokens to generate; -1: until
                            // the state is full
  std::vector<std::string> stop;
  // Ids that end the text, in addition to those that the tokenizer defines.
  std::vector<int32_t> stop_ids;
  // If set, only JSON text is generated. `trie` is then required; it must be
  // made from the tokenizer's vocabulary and outlive the call.
  std::optional<JsonLimits> json;
  const VocabularyTrie* trie = nullptr;
  int64_t prompt_chunk = 512;  // largest number of the prompt's tokens that are
                               // appended in one call
  // Largest number of tokens that are guessed from the text so far and checked
  // in one step; 0: none. Guesses do not change the result, except by the
  // rounding of sums.
  int64_t guesses = 0;
  // TokenLoopOptions::first_logits
  std::span<const float> first_logits;
  // True: control tokens are written to the text by their names. False: they
  // are left out.
  bool render_special = false;
  // Receives each new part of the text, in valid UTF-8. Returns false to end
  // the generation.
  std::function<bool(std::string_view text)> on_text;
  // Called before each step of the model. Returns true to end the generation.
  std::function<bool()> is_cancelled;
};

struct Generation {
  std::string text;          // the whole generated text, which on_text received
                             // in parts
  std::vector<int32_t> ids;  // generated ids, without the one that ended the
                             // text
  TokenLoopResult loop;      // reason why the generation ended, numbers of
                             // tokens, and times
  EndReason reason() const { return loop.reason; }
};

StatusOr<Generation> Generate(const Tokenizer& tokenizer, LogitSource& logits,
                              std::span<const int32_t> prompt,
                              const GenerateOptions& options);

}  // namespace ember::llm

#endif  // EMBER_LLM_GENERATE_GENERATE_H_
