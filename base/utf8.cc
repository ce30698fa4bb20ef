#include "base/utf8.h"

#include <cstddef>
#include <cstdint>

namespace ember {

bool IsUtf8(std::string_view text) {
  const auto byte_at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  for (size_t i = 0; i < text.size();) {
    const uint8_t first = byte_at(i++);
    if (first < 0x80) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    const size_t more = first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    if (text.size() - i < more) return false;
    // Behind some first bytes only a part of the continuation bytes is allowed:
    // the others would encode a surrogate, an overlong form or a number above
    // U+10FFFF.
    const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (byte_at(i) < least || byte_at(i) > most) return false;
    for (size_t k = 1; k < more; ++k)
      if ((byte_at(i + k) & 0xc0) != 0x80) return false;
    i += more;
  }
  return true;
}

}  // namespace ember
