// Properties of Unicode characters and the normal forms of texts.
//
//   IsPunctuation('!');              // true
//   Normalized("ﬁ", NormalForm::kNfkc);   // "fi"
//
// Texts are UTF-8; invalid bytes are read as U+FFFD. Thread-safe. The data is
// that of Debian's utf8proc (Unicode 15).
#ifndef EMBER_LLM_TEXT_UNICODE_H_
#define EMBER_LLM_TEXT_UNICODE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace ember::llm {

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// Returns the text in one of the normal forms that Unicode Standard Annex 15
// defines.
std::string Normalized(std::string_view text, NormalForm form);

// Returns the text in lower case. Each character is mapped by itself, without
// regard to its neighbours.
std::string Lowercase(std::string_view text);
// Returns the text in upper case. Each character is mapped by itself, without
// regard to its neighbours.
std::string Uppercase(std::string_view text);
uint32_t ToLower(uint32_t code);
uint32_t ToUpper(uint32_t code);

// True if the character has the property White_Space.
bool IsWhitespace(uint32_t code);
// True for characters of category P and for the ASCII symbols ($, +, <, ...).
// BERT's tokenizer defines punctuation so.
bool IsPunctuation(uint32_t code);
// True for characters of the categories Cc, Cf, Cs and Co, and for unassigned
// ones.
bool IsControl(uint32_t code);
// True for nonspacing marks (category Mn), such as combining accents.
bool IsNonspacingMark(uint32_t code);
// True for letters and numbers (categories L and N).
bool IsAlphanumeric(uint32_t code);
bool IsLetter(uint32_t code);
bool IsUpper(uint32_t code);
bool IsLower(uint32_t code);
// True for the blocks of Chinese characters around which BERT's tokenizer
// splits.
bool IsChinese(uint32_t code);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEXT_UNICODE_H_
