#include "base/sha2.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ember {
namespace {

// The round constants: the first 64 bits of the fractional parts of the cube
// roots of the first 80 primes. Those of SHA-256 are the upper halves of the
// first 64.
constexpr uint64_t kConstants[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f,
    0xe9b5dba58189dbbc, 0x3956c25bf348b538, 0x59f111f1b605d019,
    0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242,
    0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65, 0x2de92c6f592b0275,
    0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f,
    0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc,
    0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6,
    0x92722c851482353b, 0xa2bfe8a14cf10364, 0xa81a664bbc423001,
    0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99,
    0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc,
    0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915,
    0xc67178f2e372532b, 0xca273eceea26619c, 0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba,
    0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

// The initial state of SHA-512, of which SHA-256 takes the upper halves: the
// first 64 bits of the fractional parts of the square roots of the first 8
// primes.
constexpr uint64_t kInitial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b,
                                  0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                  0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                  0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

// The parameters in which SHA-256 and SHA-512 differ, by their word size: the
// number of rounds, and the distances of rotations and shifts.
template <typename Word>
struct Rules;
template <>
struct Rules<uint32_t> {
  static constexpr int kRounds = 64;
  static constexpr int kEarlier[3] = {7, 18, 3};
  static constexpr int kLater[3] = {17, 19, 10};
  static constexpr int kFirst[3] = {6, 11, 25};
  static constexpr int kSecond[3] = {2, 13, 22};
};
template <>
struct Rules<uint64_t> {
  static constexpr int kRounds = 80;
  static constexpr int kEarlier[3] = {1, 8, 7};
  static constexpr int kLater[3] = {19, 61, 6};
  static constexpr int kFirst[3] = {14, 18, 41};
  static constexpr int kSecond[3] = {28, 34, 39};
};

template <typename Word>
constexpr int kBits = 8 * static_cast<int>(sizeof(Word));

template <typename Word>
Word Upper(uint64_t value) {
  return static_cast<Word>(value >> (64 - kBits<Word>));
}

template <typename Word>
Word Rotated(Word x, const int (&by)[3]) {
  return std::rotr(x, by[0]) ^ std::rotr(x, by[1]) ^ std::rotr(x, by[2]);
}
template <typename Word>
Word Shifted(Word x, const int (&by)[3]) {
  return std::rotr(x, by[0]) ^ std::rotr(x, by[1]) ^ x >> by[2];
}

template <typename Word>
Word ReadBigEndian(const uint8_t* bytes) {
  Word value = 0;
  for (size_t i = 0; i < sizeof(Word); ++i) value = value << 8 | bytes[i];
  return value;
}

template <typename Word>
void WriteBigEndian(Word value, uint8_t* bytes) {
  for (int i = 0; i < static_cast<int>(sizeof(Word)); ++i)
    bytes[i] = static_cast<uint8_t>(value >> (kBits<Word> - 8 - 8 * i));
}

}  // namespace

template <typename Word>
Sha2<Word>::Sha2() {
  for (int i = 0; i < 8; ++i) state_[i] = Upper<Word>(kInitial[i]);
}

template <typename Word>
void Sha2<Word>::AddBlock(const uint8_t* block) {
  using Rule = Rules<Word>;
  Word words[Rule::kRounds];
  for (int i = 0; i < 16; ++i)
    words[i] = ReadBigEndian<Word>(block + sizeof(Word) * i);
  for (int i = 16; i < Rule::kRounds; ++i) {
    words[i] = words[i - 16] + Shifted(words[i - 15], Rule::kEarlier) +
               words[i - 7] + Shifted(words[i - 2], Rule::kLater);
  }
  Word a = state_[0], b = state_[1], c = state_[2], d = state_[3];
  Word e = state_[4], f = state_[5], g = state_[6], h = state_[7];
  for (int i = 0; i < Rule::kRounds; ++i) {
    const Word first = h + Rotated(e, Rule::kFirst) + ((e & f) ^ (~e & g)) +
                       Upper<Word>(kConstants[i]) + words[i];
    const Word second =
        Rotated(a, Rule::kSecond) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Word added[8] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) state_[i] += added[i];
}

template <typename Word>
void Sha2<Word>::Add(std::span<const uint8_t> bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    if (rest_size_ == 0 && bytes.size() >= kBlock) {
      AddBlock(bytes.data());
      bytes = bytes.subspan(kBlock);
      continue;
    }
    const size_t count = std::min(kBlock - rest_size_, bytes.size());
    std::memcpy(rest_ + rest_size_, bytes.data(), count);
    rest_size_ += count;
    bytes = bytes.subspan(count);
    if (rest_size_ < kBlock) continue;
    AddBlock(rest_);
    rest_size_ = 0;
  }
}

template <typename Word>
typename Sha2<Word>::Digest Sha2<Word>::Finish() {
  // Adds the padding: a one bit, zeros, and the message's length in bits in two
  // words. Only the lower 8 bytes of the length are written, which suffices for
  // messages of up to 2^61 bytes.
  constexpr size_t kSize = 2 * sizeof(Word);
  const uint64_t size = size_;
  uint8_t end[2 * kBlock] = {0x80};
  const size_t zeros =
      (rest_size_ < kBlock - kSize ? kBlock : 2 * kBlock) - rest_size_ - 8;
  WriteBigEndian(size << 3, end + zeros);
  Add({end, zeros + 8});
  Digest digest;
  for (size_t i = 0; i < 8; ++i)
    WriteBigEndian(state_[i], digest.data() + sizeof(Word) * i);
  return digest;
}

template class Sha2<uint32_t>;
template class Sha2<uint64_t>;

}  // namespace ember
