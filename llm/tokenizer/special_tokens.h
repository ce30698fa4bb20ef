// Finds the texts of special tokens in a text.
//
//   const SpecialTokens special(vocabulary);
//   special.Split("<s>Hi", /*parse_control=*/true);   // {id of <s>}, {"Hi"}
//
// User-defined tokens are always found. Control and unknown tokens are found
// only on request, because a user's text must not end a message of a chat. At
// each byte the longest token wins. Tokens are found in the text as it is,
// before it is normalized. Thread-safe after construction; the vocabulary must
// outlive this.
#ifndef EMBER_LLM_TOKENIZER_SPECIAL_TOKENS_H_
#define EMBER_LLM_TOKENIZER_SPECIAL_TOKENS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

// A part of a text: a special token, or the text between two of them.
struct Fragment {
  int32_t id = -1;        // -1: text.
  std::string_view text;  // the text, if id is -1; then it is not empty
};

class SpecialTokens {
 public:
  explicit SpecialTokens(const Vocabulary& vocabulary);

  std::vector<Fragment> Split(std::string_view text, bool parse_control) const;

 private:
  struct Match {
    int32_t id = -1;
    size_t size = 0;
  };
  Match LongestAt(std::string_view text, size_t at, bool parse_control) const;

  const Vocabulary* vocabulary_;
  ByteTrie trie_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_SPECIAL_TOKENS_H_
