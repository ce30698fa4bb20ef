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
  bool is_valid = false;  // False if `code` replaces bytes that are no UTF-8.
  bool is_cut = false;    // True if more bytes could complete the character.
};

// Returns the character that begins at byte `at`, which must be below the
// text's size.
Utf8Char Utf8At(std::string_view text, size_t at);

// Appends the character; a surrogate or a number above U+10FFFF becomes U+FFFD.
void AppendUtf8(uint32_t code, std::string* text);

// Returns the text with U+FFFD for each sequence that is no character.
std::string ToValidUtf8(std::string_view text);

// Returns the number of bytes at the end that begin a character without
// completing it: 0 to 3.
size_t CutUtf8Size(std::string_view text);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEXT_UTF8_H_
