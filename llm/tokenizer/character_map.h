// The compiled normalization rules of SentencePiece: a table that replaces the
// longest known prefix of a text, again and again.
//
//   EMBER_ASSIGN_OR_RETURN(const CharacterMap map, CharacterMap::Parse(blob));
//   map.Normalize("ﬁ", 1024);   // "fi", if the table has NFKC's rules
//
// The blob is from an untrusted file: its sizes are checked when it is parsed,
// and each index when it is used. A search ends if its next index is outside of
// the table. Thread-safe. Source: SentencePiece's precompiled_charsmap, a
// Darts-clone double array with a block of texts that end with a zero byte.
#ifndef EMBER_LLM_TOKENIZER_CHARACTER_MAP_H_
#define EMBER_LLM_TOKENIZER_CHARACTER_MAP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::llm {

class CharacterMap {
 public:
  static StatusOr<CharacterMap> Parse(std::string_view blob);

  // Rewrites the text. Invalid UTF-8 becomes U+FFFD. Error: the result would
  // have more than `most` bytes.
  StatusOr<std::string> Normalize(std::string_view text, size_t most) const;

 private:
  struct Match {
    size_t size = 0;  // bytes of the text that match; 0: no prefix of the text
                      // is in the table
    uint32_t offset = 0;
  };
  Match LongestPrefix(std::string_view text) const;

  std::vector<uint32_t> units_;
  std::string texts_;  // the replacements, each with a zero byte at its end
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_CHARACTER_MAP_H_
