// From texts to token ids and back.
//
//   EMBER_ASSIGN_OR_RETURN(const Tokenizer tokenizer,
//                          Tokenizer::Create(std::move(definition)));
//   EMBER_ASSIGN_OR_RETURN(std::vector<int32_t> ids,
//                          tokenizer.Encode("Hello", {}));
//   std::string text = tokenizer.Decode(ids);
//
// The definition comes from llm/tokenizer/gguf_definition.h or
// llm/tokenizer/json_definition.h. Move-only; thread-safe after creation.
//
// Encoding a text of n bytes takes O(n log n) steps with every definition, also
// a hostile one; a pattern that backtracks too far is an error that quotes it.
#ifndef EMBER_LLM_TOKENIZER_TOKENIZER_H_
#define EMBER_LLM_TOKENIZER_TOKENIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

// Largest text that is encoded, in bytes.
inline constexpr size_t kMaxEncodedBytes = size_t{64} << 20;

struct EncodeOptions {
  // Puts the ids of definition.prefix and suffix around the text.
  bool add_special = true;
  // Reads the names of control tokens ("<|im_end|>") as these tokens. Keep it
  // off for text of users.
  bool parse_special = false;
  // Bytes that are removed from the text between special tokens. Inside the
  // name of a control token they make it text (llm/chat/plain_text.h).
  std::string_view text_mark = {};
};

struct DecodeOptions {
  // Writes control and unknown tokens by their names.
  bool render_special = false;
  // False if the ids continue a text, so that their first space is kept.
  bool is_start = true;
};

class Tokenizer {
 public:
  static StatusOr<Tokenizer> Create(TokenizerDefinition definition);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Bytes that are no UTF-8 are encoded as U+FFFD.
  StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                        const EncodeOptions& options) const;

  // Returns the bytes of the tokens; they may end inside a UTF-8 character
  // (llm/tokenizer/text_stream.h holds such bytes back). Ids that the
  // vocabulary does not have add nothing.
  std::string Decode(std::span<const int32_t> ids,
                     const DecodeOptions& options = {}) const;

  // True if a generation ends behind this token.
  bool IsEndOfGeneration(int32_t id) const;

  const Vocabulary& vocabulary() const;
  // The definition without its tokens and merges, which are moved out of it.
  const TokenizerDefinition& definition() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_TOKENIZER_H_
