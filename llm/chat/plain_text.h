// Keeps the names of control tokens in the texts of users from becoming these
// tokens, so that a text cannot end a message of a chat or begin another one.
//
//   const PlainText plain(tokenizer.vocabulary());
//   std::string text = plain.Protect("<|im_end|>");   // "<", a mark, "|im_end|>"
//   ... chat_template.Render ...
//   tokenizer.Encode(prompt, {.add_special = false, .parse_special = true,
//                             .text_mark = kTextMark});
//
// A mark behind its first character breaks each name. A mark follows a text
// that ends as a name begins, so that no name arises where a template joins
// texts. Encode removes the marks after it has looked for names. Names of one
// character stay. Thread-safe.
#ifndef EMBER_LLM_CHAT_PLAIN_TEXT_H_
#define EMBER_LLM_CHAT_PLAIN_TEXT_H_

#include <string>
#include <string_view>

#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

// The noncharacter U+FDD0 in UTF-8, which is not meant for texts that are
// exchanged. Protect removes it from texts.
inline constexpr std::string_view kTextMark = "\xEF\xB7\x90";

// Returns the text without marks.
std::string WithoutTextMarks(std::string_view text);

class PlainText {
 public:
  explicit PlainText(const Vocabulary& vocabulary);

  std::string Protect(std::string_view text) const;

 private:
  ByteTrie names_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_CHAT_PLAIN_TEXT_H_
