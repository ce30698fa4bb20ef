#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ember {
namespace {

constexpr size_t kBlock = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr uint32_t kConstants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t ReadBigEndian(const uint8_t* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | bytes[i];
  return value;
}

void WriteBigEndian(uint32_t value, uint8_t* bytes) {
  for (int i = 0; i < 4; ++i)
    bytes[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

class Hash {
 public:
  void Add(std::string_view text) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
    size_t count = text.size();
    size_ += count;
    while (count > 0) {
      if (rest_size_ == 0 && count >= kBlock) {
        AddBlock(bytes);
        bytes += kBlock;
        count -= kBlock;
        continue;
      }
      const size_t taken = std::min(kBlock - rest_size_, count);
      std::memcpy(rest_ + rest_size_, bytes, taken);
      rest_size_ += taken;
      bytes += taken;
      count -= taken;
      if (rest_size_ < kBlock) return;
      AddBlock(rest_);
      rest_size_ = 0;
    }
  }

  // Once, after the last Add.
  Sha256Digest Finish() {
    const uint64_t bits = size_ * 8;
    rest_[rest_size_++] = 0x80;
    if (rest_size_ > kBlock - 8) {
      std::memset(rest_ + rest_size_, 0, kBlock - rest_size_);
      AddBlock(rest_);
      rest_size_ = 0;
    }
    std::memset(rest_ + rest_size_, 0, kBlock - 8 - rest_size_);
    WriteBigEndian(static_cast<uint32_t>(bits >> 32), rest_ + kBlock - 8);
    WriteBigEndian(static_cast<uint32_t>(bits), rest_ + kBlock - 4);
    AddBlock(rest_);
    Sha256Digest digest;
    for (size_t i = 0; i < 8; ++i)
      WriteBigEndian(state_[i], digest.data() + 4 * i);
    return digest;
  }

 private:
  void AddBlock(const uint8_t* block);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t rest_[kBlock];  // of the last block, not yet whole
  size_t rest_size_ = 0;
  uint64_t size_ = 0;
};

void Hash::AddBlock(const uint8_t* block) {
  uint32_t words[64];
  for (int i = 0; i < 16; ++i) words[i] = ReadBigEndian(block + 4 * i);
  for (int i = 16; i < 64; ++i) {
    const uint32_t x = words[i - 15], y = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) +
               words[i - 7] + (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10);
  }
  uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  uint32_t e = state_[4], f = state_[5], g = state_[6], h = state_[7];
  for (int i = 0; i < 64; ++i) {
    const uint32_t first =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
        ((e & f) ^ (~e & g)) + kConstants[i] + words[i];
    const uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
        ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const uint32_t added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += added[i];
}

}  // namespace

Sha256Digest Sha256(std::initializer_list<std::string_view> parts) {
  Hash hash;
  for (const std::string_view part : parts) hash.Add(part);
  return hash.Finish();
}

Sha256Digest HmacSha256(std::string_view secret,
                        std::initializer_list<std::string_view> parts) {
  std::string inner(kBlock, '\x36'), outer(kBlock, '\x5c');
  const Sha256Digest shortened = Sha256({secret});
  const std::string_view key =
      secret.size() > kBlock ? BytesOf(shortened) : secret;
  for (size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  Hash hash;
  hash.Add(inner);
  for (const std::string_view part : parts) hash.Add(part);
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
