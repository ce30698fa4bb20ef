#include "llm/tokenizer/byte_characters.h"

#include <array>
#include <cstdint>

#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

// Bytes that are visible characters of Latin-1 are written as these characters.
// All other bytes are written as U+0100 and the following characters, in their
// order.
constexpr bool IsVisible(int byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) ||
         (byte >= 0xae && byte <= 0xff);
}

constexpr std::array<uint32_t, 256> kCharacters = [] {
  std::array<uint32_t, 256> characters{};
  uint32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    characters[byte] = IsVisible(byte) ? static_cast<uint32_t>(byte) : next++;
  }
  return characters;
}();

constexpr uint32_t kEnd = 0x144;  // one more than the largest character in
                                  // kCharacters

constexpr std::array<int16_t, kEnd> kBytes = [] {
  std::array<int16_t, kEnd> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[kCharacters[byte]] = static_cast<int16_t>(byte);
  }
  return bytes;
}();

}  // namespace

std::string BytesOfCharacters(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Utf8Char c = Utf8At(text, at);
    if (c.is_valid && c.code < kEnd && kBytes[c.code] >= 0) {
      bytes += static_cast<char>(kBytes[c.code]);
    } else {
      bytes.append(text, at, c.size);
    }
    at += c.size;
  }
  return bytes;
}

std::string CharactersOfBytes(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    AppendUtf8(kCharacters[static_cast<uint8_t>(byte)], &text);
  }
  return text;
}

}  // namespace ember::llm
