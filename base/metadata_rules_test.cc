#include "base/metadata_rules.h"

#include <string>

#include "base/utf8.h"
#include "gtest/gtest.h"

namespace ember {
namespace {

TEST(Utf8Test, WellFormedSequences) {
  for (const char* text :
       {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
        "\xee\x80\x80", "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf",
        "a\xc3\xa4z"})
    EXPECT_TRUE(IsUtf8(text)) << text;
}

TEST(Utf8Test, OthersAreRefused) {
  for (const char* text :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2z", "\xe0\x9f\xbf",
        "\xe0\xa0", "\xe0\xa0z", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf0\x90\x80z", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "a\xbf"})
    EXPECT_FALSE(IsUtf8(text)) << text;
}

TEST(MetadataRulesTest, KeysAscend) {
  MetadataRules rules;
  EXPECT_TRUE(rules.Check("a", "").ok());
  EXPECT_TRUE(rules.Check("a.b", "line\nline").ok());
  EXPECT_EQ(rules.Check("a", "").message(),
            "metadata 'a': expected keys in ascending order, each once, found "
            "another");
}

TEST(MetadataRulesTest, TextsHaveNoByteZero) {
  EXPECT_FALSE(IsMetadataText(std::string_view("a\0", 2)));
  EXPECT_FALSE(IsMetadataKey(""));
  EXPECT_FALSE(IsMetadataKey(std::string(kMaxMetadataKeyBytes + 1, 'k')));
  EXPECT_TRUE(IsMetadataKey(std::string(kMaxMetadataKeyBytes, 'k')));
}

}  // namespace
}  // namespace ember
