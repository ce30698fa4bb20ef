#include "base/sha256.h"

#include <cstddef>
#include <span>

#include "base/sha2.h"

namespace ember {
namespace {

using Hash = Sha2<uint32_t>;

std::span<const uint8_t> Span(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

}  // namespace

Sha256Digest Sha256(std::initializer_list<std::string_view> parts) {
  Hash hash;
  for (const std::string_view part : parts) hash.Add(Span(part));
  return hash.Finish();
}

Sha256Digest HmacSha256(std::string_view secret,
                        std::initializer_list<std::string_view> parts) {
  std::string inner(Hash::kBlock, '\x36'), outer(Hash::kBlock, '\x5c');
  const Sha256Digest shortened = Sha256({secret});
  const std::string_view key =
      secret.size() > Hash::kBlock ? BytesOf(shortened) : secret;
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  Hash hash;
  hash.Add(Span(inner));
  for (const std::string_view part : parts) hash.Add(Span(part));
  const Sha256Digest first = hash.Finish();
  return Sha256({outer, BytesOf(first)});
}

bool IsSameSecret(const Sha256Digest& a, const Sha256Digest& b) {
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

std::string ToHex(const Sha256Digest& digest) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace ember
