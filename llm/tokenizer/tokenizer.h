// Encodes texts as token ids, and decodes ids to texts.
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

// Largest number of bytes of a text that can be encoded.
inline constexpr size_t kMaxEncodedBytes = size_t{64} << 20;

struct EncodeOptions {
  // True: the ids of definition.prefix and suffix are put around those of the
  // text.
  bool add_special = true;
  // True: names of control tokens in the text ("<|im_end|>") become these
  // tokens. It must be false for texts of users.
  bool parse_special = false;
  // A sequence of bytes that is removed from the text after special tokens were
  // found. If a name of a control token contains it, the name is plain text
  // (llm/chat/plain_text.h).
  std::string_view text_mark = {};
};

struct DecodeOptions {
  // True: control and unknown tokens are written by their names. False: they
  // are left out.
  bool render_special = false;
  // True: the ids begin a text, so the space that encoding put before the text
  // is removed. False: they continue a text.
  bool is_start = true;
};

class Tokenizer {
 public:
  static StatusOr<Tokenizer> Create(TokenizerDefinition definition);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // Encodes a text. Invalid UTF-8 is encoded as U+FFFD.
  StatusOr<std::vector<int32_t>> Encode(std::string_view text,
                                        const EncodeOptions& options) const;

  // Decodes tokens. The result may end inside a UTF-8 character
  // (llm/tokenizer/text_stream.h holds such bytes back). Ids that the
  // vocabulary does not have are skipped.
  std::string Decode(std::span<const int32_t> ids,
                     const DecodeOptions& options = {}) const;

  // True if a generation ends when this token is chosen.
  bool IsEndOfGeneration(int32_t id) const;

  const Vocabulary& vocabulary() const;
  // Returns the definition, without the tokens and merges, which were moved to
  // the vocabulary and the model.
  const TokenizerDefinition& definition() const;

 private:
  struct Parts;
  explicit Tokenizer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_TOKENIZER_H_
