// Tests signatures with the vectors of RFC 8032, 7.1, and SHA-512 with FIPS
// 180-4's examples. tools/sign_test compares with libsodium.
#include "base/ed25519.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha512.h"
#include "gtest/gtest.h"

namespace ember {
namespace {

template <size_t kSize>
std::array<uint8_t, kSize> Bytes(std::string_view digits) {
  EXPECT_EQ(digits.size(), 2 * kSize);
  std::array<uint8_t, kSize> bytes = {};
  for (size_t i = 0; i < kSize; ++i) {
    bytes[i] = static_cast<uint8_t>(
        std::stoi(std::string(digits.substr(2 * i, 2)), nullptr, 16));
  }
  return bytes;
}

struct Vector {
  std::string_view key;
  std::vector<uint8_t> message;
  std::string_view signature;
};

const Vector kVectors[] = {
    {"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
     {},
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb88215"
     "90a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"},
    {"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
     {0x72},
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e4"
     "3e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
    {"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
     {0xaf, 0x82},
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b53"
     "8d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"},
};

TEST(Ed25519Test, VectorsOfTheStandard) {
  for (const Vector& vector : kVectors) {
    EXPECT_TRUE(VerifyEd25519(Bytes<32>(vector.key), vector.message,
                              Bytes<64>(vector.signature)))
        << vector.key;
  }
}

TEST(Ed25519Test, AnyOtherBitIsRefused) {
  const Vector& vector = kVectors[2];
  const Ed25519Key key = Bytes<32>(vector.key);
  const Ed25519Signature signature = Bytes<64>(vector.signature);
  for (size_t bit = 0; bit < 8 * signature.size(); bit += 5) {
    Ed25519Signature bad = signature;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(VerifyEd25519(key, vector.message, bad)) << bit;
  }
  for (size_t bit = 0; bit < 8 * key.size(); bit += 5) {
    Ed25519Key bad = key;
    bad[bit / 8] = static_cast<uint8_t>(bad[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(VerifyEd25519(bad, vector.message, signature)) << bit;
  }
  std::vector<uint8_t> longer = vector.message;
  longer.push_back(0);
  EXPECT_FALSE(VerifyEd25519(key, longer, signature));
  EXPECT_FALSE(VerifyEd25519({}, {}, {}));
}

// S plus the order L of the base point satisfies the signature's equation as
// well as S does. Only the smaller scalar, which is below L, may be accepted;
// otherwise a signature could be changed and stay valid.
TEST(Ed25519Test, LargeNumbersAreRefused) {
  Ed25519Signature signature = Bytes<64>(kVectors[0].signature);
  const auto order = Bytes<32>(
      "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
  int carry = 0;
  for (size_t i = 0; i < 32; ++i) {
    carry += signature[32 + i] + order[i];
    signature[32 + i] = static_cast<uint8_t>(carry);
    carry >>= 8;
  }
  EXPECT_FALSE(VerifyEd25519(Bytes<32>(kVectors[0].key), {}, signature));
}

Sha512Digest HashOf(std::string_view text, size_t piece) {
  Sha512 hash;
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  for (size_t i = 0; i < text.size(); i += piece)
    hash.Add({data + i, std::min(piece, text.size() - i)});
  return hash.Finish();
}

TEST(Sha512Test, VectorsOfTheStandard) {
  EXPECT_EQ(HashOf("", 1),
            Bytes<64>("cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921"
                      "d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81"
                      "a538327af927da3e"));
  EXPECT_EQ(HashOf("abc", 1),
            Bytes<64>("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee6"
                      "4b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e"
                      "2a9ac94fa54ca49f"));
  for (const size_t size : {111, 112, 127, 128, 129, 239, 240, 300}) {
    const std::string text(size, 'x');
    for (const size_t piece : {size_t{1}, size_t{7}, size_t{128}})
      EXPECT_EQ(HashOf(text, piece), HashOf(text, size)) << size;
  }
}

}  // namespace
}  // namespace ember
