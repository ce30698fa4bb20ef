// Encodes text for which the vocabulary has no token: as byte tokens or as the
// unknown token.
//
//   UnknownText unknown(definition, vocabulary);
//   unknown.Append("é", &ids);   // the tokens <0xC3> <0xA9>, or the unknown one
//
// Thread-safe; the vocabulary must outlive it.
#ifndef EMBER_LLM_TOKENIZER_UNKNOWN_TEXT_H_
#define EMBER_LLM_TOKENIZER_UNKNOWN_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

class UnknownText {
 public:
  UnknownText(const TokenizerDefinition& definition,
              const Vocabulary& vocabulary)
      : vocabulary_(&vocabulary),
        unknown_(definition.unknown),
        uses_bytes_(definition.has_byte_fallback && vocabulary.HasAllBytes()),
        fuses_(definition.fuses_unknown) {}

  // Appends the tokens of the text. `first` is the size of `ids` before the
  // current piece: the text is fused only with an unknown token of the same
  // piece.
  void Append(std::string_view text, size_t first,
              std::vector<int32_t>* ids) const {
    if (uses_bytes_) {
      for (const char c : text) {
        ids->push_back(vocabulary_->FindByte(static_cast<uint8_t>(c)));
      }
      return;
    }
    if (unknown_ < 0) return;
    if (fuses_ && ids->size() > first && ids->back() == unknown_) return;
    ids->push_back(unknown_);
  }

 private:
  const Vocabulary* vocabulary_;
  int32_t unknown_;
  bool uses_bytes_;
  bool fuses_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_UNKNOWN_TEXT_H_
