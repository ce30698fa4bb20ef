#include "jit/llvm/sha256.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/SHA256.h"

namespace ember::jit {
namespace {

constexpr size_t kBlock = 64;

}  // namespace

Digest Sha256(std::initializer_list<std::string_view> parts) {
  llvm::SHA256 hash;
  for (const std::string_view part : parts) hash.update(llvm::StringRef(part));
  return hash.final();
}

Digest HmacSha256(std::string_view secret,
                  std::initializer_list<std::string_view> parts) {
  std::array<uint8_t, kBlock> inner{}, outer{};
  const Digest shortened = Sha256({secret});
  const std::string_view key =
      secret.size() > kBlock ? BytesOf(shortened) : secret;
  for (size_t i = 0; i < kBlock; ++i) {
    const uint8_t byte = i < key.size() ? static_cast<uint8_t>(key[i]) : 0;
    inner[i] = byte ^ 0x36;
    outer[i] = byte ^ 0x5c;
  }
  llvm::SHA256 hash;
  hash.update(inner);
  for (const std::string_view part : parts) hash.update(llvm::StringRef(part));
  const Digest first = hash.final();
  hash.init();
  hash.update(outer);
  hash.update(first);
  return hash.final();
}

bool IsSameSecret(const Digest& a, const Digest& b) {
  volatile uint8_t difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = difference | (a[i] ^ b[i]);
  return difference == 0;
}

std::string ToHex(const Digest& digest) {
  return llvm::toHex(digest, /*LowerCase=*/true);
}

}  // namespace ember::jit
