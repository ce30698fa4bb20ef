// Shortens a text for a message or a name: a file may hold very long texts and
// repeat them very often.
//
//   Shortened("abcdef", 3);   // "abc…"
//
// Thread-safe.
#ifndef EMBER_BASE_SHORTENED_H_
#define EMBER_BASE_SHORTENED_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace ember {

// Largest numbers of bytes of texts that are only shown to people, because a
// model may have millions of them: names of values and nodes (kLongestName),
// and texts that say where a node is in nested calls (kLongestOrigin).
inline constexpr size_t kLongestName = 256, kLongestOrigin = 512;

// Returns the text unchanged if it has at most `most` bytes; otherwise its
// first bytes, at most `most` of them, followed by "…".
inline std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // The cut is never inside a UTF-8 character, which has at most 4 bytes.
  size_t end = most;
  for (int i = 0; i < 3 && end > 0 && (text[end] & 0xc0) == 0x80; ++i) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace ember

#endif  // EMBER_BASE_SHORTENED_H_
