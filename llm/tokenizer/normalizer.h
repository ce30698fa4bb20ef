// Rewrites a text by the normalizer's steps of a tokenizer.
//
//   EMBER_ASSIGN_OR_RETURN(const Normalizer normalizer,
//                          Normalizer::Create(definition.normalizer));
//   EMBER_ASSIGN_OR_RETURN(std::string text, normalizer.Normalize("Élan"));
//
// A text grows at most to MaxNormalizedBytes; a larger result is an error.
// Move-only; thread-safe after creation.
#ifndef EMBER_LLM_TOKENIZER_NORMALIZER_H_
#define EMBER_LLM_TOKENIZER_NORMALIZER_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/text/regex.h"
#include "llm/tokenizer/character_map.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

// Limit on the size of a normalized text. Compatibility forms (NFKC) make a
// text at most 18 times as long.
constexpr size_t MaxNormalizedBytes(size_t text_bytes) {
  return (size_t{64} << 10) + 32 * text_bytes;
}

class Normalizer {
 public:
  static StatusOr<Normalizer> Create(std::span<const NormalizerStep> steps);

  // Applies all steps. The text must be valid UTF-8; the result is valid, too.
  StatusOr<std::string> Normalize(std::string_view text) const;

 private:
  struct Step {
    NormalizerStep definition;
    std::optional<Regex> regex;
    std::optional<CharacterMap> map;
  };
  static Status Apply(const Step& step, size_t most, std::string* text);
  std::vector<Step> steps_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_NORMALIZER_H_
