// SHA-256 (FIPS 180-4) and authentication codes made with it (RFC 2104).
//
//   Sha256Digest key = Sha256({"a", "bc"});  // of "abc": parts are joined
//   Sha256Digest code = HmacSha256(secret, {header, contents});
//   if (!IsSameSecret(code, found)) ...
//
// Thread-safe.
#ifndef EMBER_BASE_SHA256_H_
#define EMBER_BASE_SHA256_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ember {

using Sha256Digest = std::array<uint8_t, 32>;

Sha256Digest Sha256(std::initializer_list<std::string_view> parts);
Sha256Digest HmacSha256(std::string_view secret,
                        std::initializer_list<std::string_view> parts);

// True if the digests are equal. The time of the comparison does not depend on
// the position of the first difference, so that an attacker cannot guess an
// authentication code byte by byte.
bool IsSameSecret(const Sha256Digest& a, const Sha256Digest& b);

inline std::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}
// Returns the digest as 64 hexadecimal digits.
std::string ToHex(const Sha256Digest& digest);

}  // namespace ember

#endif  // EMBER_BASE_SHA256_H_
