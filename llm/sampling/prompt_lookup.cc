#include "llm/sampling/prompt_lookup.h"

#include <algorithm>

namespace ember::llm {

std::span<const int32_t> LookUpContinuation(
    std::span<const int32_t> tokens, const PromptLookupOptions& options) {
  if (tokens.size() < 2 || options.guesses == 0) return {};
  // Tries all earlier positions from the last to the first. For each it counts
  // how many tokens before it equal the last tokens of the sequence.
  size_t best = std::max<size_t>(options.shortest, 1) - 1, best_end = 0;
  const size_t longest = std::min(options.longest, tokens.size() - 1);
  for (size_t end = tokens.size() - 1; end > 0 && best < longest; --end) {
    size_t size = 0;
    while (size < longest && size < end &&
           tokens[end - 1 - size] == tokens[tokens.size() - 1 - size]) {
      ++size;
    }
    if (size > best) {
      best = size;
      best_end = end;
    }
  }
  if (best_end == 0) return {};
  return tokens.subspan(best_end,
                        std::min(options.guesses, tokens.size() - best_end));
}

}  // namespace ember::llm
