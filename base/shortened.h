// A text as part of a message or a name, of which a file may have very long
// ones and repeat them very often.
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

// Of what values and nodes are called, and where nodes are, in calls of calls:
// only people read it, and there may be millions.
inline constexpr size_t kLongestName = 256, kLongestOrigin = 512;

// Of a text of more than `most` bytes its beginning, as many at most, and "…".
inline std::string Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // Not in the middle of a character: of UTF-8 they are 4 bytes at most.
  size_t end = most;
  for (int i = 0; i < 3 && end > 0 && (text[end] & 0xc0) == 0x80; ++i) --end;
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace ember

#endif  // EMBER_BASE_SHORTENED_H_
