// The vocabulary of a tokenizer, which maps texts to token ids, and ids to
// bytes.
//
//   EMBER_ASSIGN_OR_RETURN(const Vocabulary vocabulary,
//                          Vocabulary::Create(std::move(tokens), options));
//   vocabulary.Find(" the");   // an id, or -1
//   vocabulary.Bytes(262);     // " the"
//
// Find looks only among tokens that a model can make: normal, user-defined and
// unused ones. If two tokens have the same text, the first normal one is found.
// Move-only; thread-safe after creation. Errors name the token.
#ifndef EMBER_LLM_TOKENIZER_VOCABULARY_H_
#define EMBER_LLM_TOKENIZER_VOCABULARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

// Largest number of tokens, and largest number of bytes of a token. Published
// vocabularies are far below both.
inline constexpr size_t kMaxTokens = size_t{1} << 22;
inline constexpr size_t kMaxTokenBytes = size_t{1} << 12;

class Vocabulary {
 public:
  // Makes a vocabulary. If `decodes_space_mark` is true, Bytes() has a space in
  // place of kSpaceMark.
  static StatusOr<Vocabulary> Create(std::vector<TokenDefinition> tokens,
                                     bool decodes_space_mark);

  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  bool Has(int32_t id) const { return id >= 0 && id < size(); }
  // Returns a token. The vocabulary must have the id.
  const TokenDefinition& token(int32_t id) const { return tokens_[id]; }
  const std::vector<TokenDefinition>& tokens() const { return tokens_; }

  // Returns the id of the token with this text, or -1.
  int32_t Find(std::string_view text) const;
  // Returns the id of the byte token for this byte, or -1.
  int32_t FindByte(uint8_t byte) const { return byte_ids_[byte]; }
  // True if there is a byte token for each of the 256 bytes.
  bool HasAllBytes() const;

  // Returns the bytes of the token's text. For a control token they are its
  // name. The view is valid as long as the vocabulary.
  std::string_view Bytes(int32_t id) const { return bytes_[id]; }
  // True for control and unknown tokens, which add nothing to a decoded text.
  bool IsHidden(int32_t id) const {
    return tokens_[id].kind == TokenKind::kControl ||
           tokens_[id].kind == TokenKind::kUnknown;
  }
  size_t longest_text() const { return longest_text_; }

 private:
  Vocabulary() = default;

  std::vector<TokenDefinition> tokens_;
  std::vector<std::string> bytes_;
  // maps the texts of tokens to ids; the keys are views into tokens_
  std::unordered_map<std::string_view, int32_t> ids_;
  std::array<int32_t, 256> byte_ids_;
  size_t longest_text_ = 0;
};

// Returns the byte of a byte token's text such as "<0x0A>", or -1 if the text
// has another form.
int ByteOfToken(std::string_view text);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_VOCABULARY_H_
