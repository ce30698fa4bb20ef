// SHA-512 (FIPS 180-4).
//
//   Sha512 hash;
//   hash.Add(bytes);
//   hash.Add(more);
//   std::array<uint8_t, 64> digest = hash.Finish();
//
// A value; not thread-safe.
#ifndef EMBER_BASE_SHA512_H_
#define EMBER_BASE_SHA512_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ember {

using Sha512Digest = std::array<uint8_t, 64>;

class Sha512 {
 public:
  void Add(std::span<const uint8_t> bytes);
  // Once, after the last Add.
  Sha512Digest Finish();

 private:
  static constexpr size_t kBlock = 128;
  void AddBlock(const uint8_t* block);

  uint64_t state_[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b,
                        0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                        0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                        0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
  uint8_t rest_[kBlock];  // of the last block, not yet whole
  size_t rest_size_ = 0;
  uint64_t size_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_SHA512_H_
