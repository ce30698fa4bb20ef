// Reads and writes UTF-8 one character at a time, safely on any bytes.
//
//   for (size_t at = 0; at < text.size();) {
//     const Utf8Char c = Utf8At(text, at);
//     at += c.size;
//   }
//
// A byte sequence that is no character reads as U+FFFD; its size is that of
// the longest prefix that could begin a character, at least 1. Thread-safe.
// Source: the Unicode Standard, table 3-7 and section 3.9.
#ifndef EMBER_LLM_TEXT_UTF8_H_
#define EMBER_LLM_TEXT_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ember::llm {

inline constexpr uint32_t kReplacementCharacter = 0xfffd;

struct Utf8Char {
  uint32_t code = 0;
  uint32_t size = 0;      // In bytes.
  bool is_valid = false;  // false: `code` is U+FFFD in place of invalid bytes
  bool is_cut = false;    // true: the text ends in the middle of this character
};

// Decodes the character that begins at byte `at`, which must be within the
// text.
Utf8Char Utf8At(std::string_view text, size_t at);

// Appends a character as UTF-8. A surrogate or a number above U+10FFFF is
// replaced by U+FFFD.
void AppendUtf8(uint32_t code, std::string* text);

// Returns the text with U+FFFD in place of each invalid sequence.
std::string ToValidUtf8(std::string_view text);

// Returns the number of bytes at the end of the text that are the beginning of
// an incomplete character: 0 to 3.
size_t CutUtf8Size(std::string_view text);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEXT_UTF8_H_
