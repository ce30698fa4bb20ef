#include "tools/lib/cli/json.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(JsonTest, QuotesAndControlCharactersAreEscaped) {
  EXPECT_EQ(JsonString("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
}

TEST(JsonTest, Utf8StaysAndOtherBytesAreReplaced) {
  EXPECT_EQ(JsonString("µ\xf0\x9f\x98\x80"), "\"µ\xf0\x9f\x98\x80\"");
  EXPECT_EQ(JsonString("a\xff\xc3"), "\"a\\ufffd\\ufffd\"");
  // These bytes are not valid UTF-8: an overlong encoding of '/', and a
  // surrogate.
  EXPECT_EQ(JsonString("\xc0\xaf"), "\"\\ufffd\\ufffd\"");
  EXPECT_EQ(JsonString("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
}

TEST(JsonTest, NoTextLeavesAScriptElement) {
  EXPECT_EQ(ScriptJson(JsonString("</script><!--&")),
            "\"\\u003c/script\\u003e\\u003c!--\\u0026\"");
  EXPECT_EQ(ScriptJson("\"a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\""),
            "\"a\\u2028\\u2029\xe2\x80\xaa\xe2\x80\"");
}

}  // namespace
}  // namespace ember::tools
