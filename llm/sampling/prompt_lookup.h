// Guesses the next tokens from the text so far: if its last tokens have
// occurred before, the tokens that followed them then may follow now.
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
  // Largest and smallest number of last tokens that are searched for in the
  // text before them.
  size_t longest = 4, shortest = 2;
  size_t guesses = 8;  // largest number of guessed tokens
};

// Returns the guessed tokens, a part of `tokens`: those after an earlier
// occurrence of the last tokens, for the largest possible number of last tokens
// and the latest such occurrence. Empty if there is none.
std::span<const int32_t> LookUpContinuation(std::span<const int32_t> tokens,
                                            const PromptLookupOptions& options);

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_PROMPT_LOOKUP_H_
