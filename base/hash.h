// A 64-bit hash of bytes: fast, the same on every machine and in every version
// (it is a cache key on disk), not cryptographic.
//
//   uint64_t key = HashBytes(file.bytes());
//   key = HashCombine(key, target_hash);
#ifndef EMBER_BASE_HASH_H_
#define EMBER_BASE_HASH_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace ember {

uint64_t HashBytes(const void* data, size_t size, uint64_t seed = 0);

inline uint64_t HashBytes(std::span<const uint8_t> bytes, uint64_t seed = 0) {
  return HashBytes(bytes.data(), bytes.size(), seed);
}
inline uint64_t HashString(std::string_view text, uint64_t seed = 0) {
  return HashBytes(text.data(), text.size(), seed);
}

// Mixes a number: each bit of the result depends on all bits of the value. The
// function is a bijection.
constexpr uint64_t HashMix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccdULL;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53ULL;
  value ^= value >> 33;
  return value;
}

// Combines two hashes. The order matters: HashCombine(a, b) != HashCombine(b,
// a).
constexpr uint64_t HashCombine(uint64_t seed, uint64_t value) {
  return HashMix(seed * 0x9e3779b97f4a7c15ULL +
                 HashMix(value + 0x2545f4914f6cdd1dULL));
}

}  // namespace ember

#endif  // EMBER_BASE_HASH_H_
