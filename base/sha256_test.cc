// Tests SHA-256 and its authentication codes with the vectors of FIPS 180-4's
// examples and of RFC 4231.
#include "base/sha256.h"

#include <string>

#include "gtest/gtest.h"

namespace ember {
namespace {

TEST(Sha256Test, PublishedExamples) {
  EXPECT_EQ(ToHex(Sha256({})),
            "e3b0c44298fc1c149afbf4c8996fb924"
            "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256({"a", "", "bc"})),
            "ba7816bf8f01cfea414140de5dae2223"
            "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256({"abcdbcdecdefdefgefghfghighijhijkijkl",
                          "jklmklmnlmnomnopnopq"})),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
}

// The lengths from 0 to 129 include those for which the last block has no room
// for the message's length, so that one more block is needed.
TEST(Sha256Test, EveryLengthOfTheLastBlock) {
  std::string digests;
  for (size_t length = 0; length < 130; ++length)
    digests += ToHex(Sha256({std::string(length, 'x')}));
  // The program `sha256sum` computed this digest of the concatenated digests.
  EXPECT_EQ(ToHex(Sha256({digests})),
            "199af942eba7fa5d1e16d475169eb240"
            "18b14e69339c93d26a9ea6d873b4ace6");
}

TEST(HmacSha256Test, PublishedExamples) {
  EXPECT_EQ(ToHex(HmacSha256(std::string(20, '\x0b'), {"Hi ", "There"})),
            "b0344c61d8db38535ca8afceaf0bf12b"
            "881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(ToHex(HmacSha256("Jefe", {"what do ya want for nothing?"})),
            "5bdcc146bf60754e6a042426089575c7"
            "5a003f089d2739839dec58b964ec3843");
  // The secret of this test vector is longer than a block of the hash.
  EXPECT_EQ(ToHex(HmacSha256(
                std::string(131, '\xaa'),
                {"Test Using Larger Than Block-Size Key - Hash Key First"})),
            "60e431591ee0b67f0d8a26aacbf5b77f"
            "8e0bc6213728c5140546040f0ee37f54");
}

TEST(IsSameSecretTest, EveryByteCounts) {
  const Sha256Digest digest = Sha256({"abc"});
  EXPECT_TRUE(IsSameSecret(digest, Sha256({"abc"})));
  for (size_t i = 0; i < digest.size(); ++i) {
    Sha256Digest other = digest;
    other[i] ^= 1;
    EXPECT_FALSE(IsSameSecret(digest, other)) << i;
  }
}

}  // namespace
}  // namespace ember
