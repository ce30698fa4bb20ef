#include "base/hash.h"

#include <cstring>

namespace ember {
namespace {

constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL;

// Returns up to 8 bytes as a little-endian number. All target machines are
// little-endian, so copying the bytes gives the same value on each of them.
uint64_t LoadWord(const uint8_t* bytes, size_t count) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, count);
  return word;
}

}  // namespace

uint64_t HashBytes(const void* data, size_t size, uint64_t seed) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  uint64_t hash = seed ^ (static_cast<uint64_t>(size) * kMultiplier);
  size_t offset = 0;
  for (; offset + 8 <= size; offset += 8) {
    uint64_t word = LoadWord(bytes + offset, 8) * kMultiplier;
    word = (word ^ (word >> 47)) * kMultiplier;
    hash = (hash ^ word) * kMultiplier;
  }
  if (offset < size)
    hash = (hash ^ LoadWord(bytes + offset, size - offset)) * kMultiplier;
  return HashMix(hash);
}

}  // namespace ember
