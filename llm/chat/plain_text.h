// Protects texts of users: a name of a control token inside them must not
// become this token. Otherwise a text could end its message in a chat and begin
// another one.
//
//   const PlainText plain(tokenizer.vocabulary());
//   std::string text = plain.Protect("<|im_end|>");   // "<", a mark, "|im_end|>"
//   ... chat_template.Render ...
//   tokenizer.Encode(prompt, {.add_special = false, .parse_special = true,
//                             .text_mark = kTextMark});
//
// Each name is broken by a mark after its first character. If a text ends with
// the beginning of a name, a mark follows, so that no name arises where a
// template joins texts. Encode first looks for names of control tokens, and
// then removes the marks. Names of one character cannot be broken. Thread-safe.
#ifndef EMBER_LLM_CHAT_PLAIN_TEXT_H_
#define EMBER_LLM_CHAT_PLAIN_TEXT_H_

#include <string>
#include <string_view>

#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

// The mark is the noncharacter U+FDD0 in UTF-8. Unicode reserves it for
// internal use, so texts have no need of it, and Protect removes it from them.
inline constexpr std::string_view kTextMark = "\xEF\xB7\x90";

// Returns the text with all marks removed.
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
