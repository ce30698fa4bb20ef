// Properties of Unicode characters and the normal forms of texts.
//
//   IsPunctuation('!');              // true
//   Normalized("ﬁ", NormalForm::kNfkc);   // "fi"
//
// Texts are UTF-8; bytes that are none become U+FFFD. Thread-safe. The data is
// that of Debian's utf8proc (Unicode 15).
#ifndef EMBER_LLM_TEXT_UNICODE_H_
#define EMBER_LLM_TEXT_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::llm {

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// Returns the text in a normal form of Unicode Standard Annex 15.
std::string Normalized(std::string_view text, NormalForm form);

// Returns the text in lower case, by the mappings of single characters.
std::string Lowercase(std::string_view text);
// Returns the text in upper case, by the mappings of single characters.
std::string Uppercase(std::string_view text);
uint32_t ToLower(uint32_t code);
uint32_t ToUpper(uint32_t code);

// True if the character has the property White_Space.
bool IsWhitespace(uint32_t code);
// True for category P and the symbols of ASCII ($, +, <, ...), as BERT's
// tokenizer defines punctuation.
bool IsPunctuation(uint32_t code);
// True for categories Cc, Cf, Cs, Co and unassigned ones.
bool IsControl(uint32_t code);
// True for category Mn, to which the combining accents belong.
bool IsNonspacingMark(uint32_t code);
// True for categories L and N.
bool IsAlphanumeric(uint32_t code);
bool IsLetter(uint32_t code);
bool IsUpper(uint32_t code);
bool IsLower(uint32_t code);
// True for the blocks of Chinese characters that BERT's tokenizer isolates.
bool IsChinese(uint32_t code);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEXT_UNICODE_H_
