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

// Largest number of bytes of the names of values and nodes, and of the texts
// that say where a node is in nested calls. Only people read them, and there
// may be millions.
inline constexpr size_t kLongestName = 256, kLongestOrigin = 512;

// Returns a text of more than `most` bytes cut to at most `most` bytes, with
// "…" behind it.
inline std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // The cut is never inside a character: UTF-8 characters have at most 4 bytes.
  size_t end = most;
  for (int i = 0; i < 3 && end > 0 && (text[end] & 0xc0) == 0x80; ++i) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace ember

#endif  // EMBER_BASE_SHORTENED_H_
