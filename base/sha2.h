// The hash functions SHA-256 and SHA-512 (FIPS 180-4), which differ only in
// their word size; base/sha256.h and base/sha512.h name them.
//
//   Sha2<uint64_t> hash;   // SHA-512
//   hash.Add(bytes);
//   hash.Add(more);
//   std::array<uint8_t, 64> digest = hash.Finish();
//
// A value; not thread-safe.
#ifndef EMBER_BASE_SHA2_H_
#define EMBER_BASE_SHA2_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace ember {

// Computes SHA-256 or SHA-512. `Word` is uint32_t or uint64_t.
template <typename Word>
class Sha2 {
 public:
  using Digest = std::array<uint8_t, 8 * sizeof(Word)>;
  static constexpr size_t kBlock = 16 * sizeof(Word);

  Sha2();
  void Add(std::span<const uint8_t> bytes);
  // Returns the digest. Call it once, after the last Add.
  Digest Finish();

 private:
  void AddBlock(const uint8_t* block);

  Word state_[8];
  uint8_t rest_[kBlock];  // The bytes of the last, incomplete block that have
                          // arrived so far.
  size_t rest_size_ = 0;
  uint64_t size_ = 0;
};

}  // namespace ember

#endif  // EMBER_BASE_SHA2_H_
