// Decodes tokens one by one, so that a text can be shown while it is made.
//
//   TextStream stream(tokenizer);
//   for (int32_t id : ids) Print(stream.Push(id));
//   Print(stream.Finish());
//
// Each result is valid UTF-8: bytes that begin a character are held back until
// it is complete, and bytes that can belong to none become U+FFFD. All results
// together are the decoded text. The tokenizer must outlive the stream.
// Thread-compatible.
#ifndef EMBER_LLM_TOKENIZER_TEXT_STREAM_H_
#define EMBER_LLM_TOKENIZER_TEXT_STREAM_H_

#include <cstdint>
#include <string>

#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {

class TextStream {
 public:
  explicit TextStream(const Tokenizer& tokenizer, DecodeOptions options = {})
      : tokenizer_(&tokenizer), options_(options) {}

  // Adds a token. Returns the text that can be shown now, which is empty if
  // only a part of a character is there.
  std::string Push(int32_t id);
  // Ends the text. Returns U+FFFD if bytes of an incomplete character are still
  // held back. Afterwards the stream can decode another text.
  std::string Finish();

 private:
  const Tokenizer* tokenizer_;
  DecodeOptions options_;
  bool has_text_ = false;  // true once a token has added to the text
  std::string held_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_TEXT_STREAM_H_
