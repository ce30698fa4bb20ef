// Guesses the next tokens from the text so far: where its last tokens occurred
// before, what followed them may follow again.
//
//   const std::vector<int32_t> tokens = {5, 6, 7, 8, 5, 6};
//   LookUpContinuation(tokens, {});   // 7, 8, 5, 6
//
// A model checks several guessed tokens in one step, which costs about as much
// as one token where reading the weights takes the time; wrong guesses change
// no result. Thread-safe. Source: Saxena, Prompt Lookup Decoding, 2023.
#ifndef EMBER_LLM_SAMPLING_PROMPT_LOOKUP_H_
#define EMBER_LLM_SAMPLING_PROMPT_LOOKUP_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ember::llm {

struct PromptLookupOptions {
  // Longest and shortest number of last tokens that must have occurred.
  size_t longest = 4, shortest = 2;
  size_t guesses = 8;  // Most guessed tokens.
};

// Returns a part of `tokens`: what followed the latest earlier occurrence of
// the longest possible number of last tokens. Empty if there is none.
std::span<const int32_t> LookUpContinuation(std::span<const int32_t> tokens,
                                            const PromptLookupOptions& options);

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_PROMPT_LOOKUP_H_
