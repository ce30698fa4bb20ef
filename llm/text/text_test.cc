#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "llm/text/regex.h"
#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Ranges = std::vector<std::pair<size_t, size_t>>;

StatusOr<Ranges> Matches(std::string_view pattern, std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(const Regex regex, Regex::Compile(pattern));
  Ranges ranges;
  EMBER_RETURN_IF_ERROR(regex.ForEachMatch(text, [&](size_t begin, size_t end) {
    ranges.emplace_back(begin, end);
  }));
  return ranges;
}

TEST(Utf8, ReadsAndWritesEverySizeOfCharacter) {
  for (const uint32_t code :
       {0x24u, 0xa2u, 0x7ffu, 0x800u, 0x20acu, 0xffffu, 0x10000u, 0x10ffffu}) {
    std::string text;
    AppendUtf8(code, &text);
    const Utf8Char c = Utf8At(text, 0);
    EXPECT_EQ(c.code, code);
    EXPECT_EQ(c.size, text.size());
    EXPECT_TRUE(c.is_valid);
  }
}

TEST(Utf8, ReplacesWhatIsNoCharacter) {
  EXPECT_EQ(ToValidUtf8("a\xffz"), "a\ufffdz");
  EXPECT_EQ(ToValidUtf8("\xc0\x80"), "\ufffd\ufffd");  // Overlong.
  EXPECT_EQ(ToValidUtf8("\xe2\x82"), "\ufffd");        // Cut off.
  EXPECT_EQ(ToValidUtf8("\xe2\x82z"), "\ufffdz");
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // Surrogate.
  std::string text;
  AppendUtf8(0xd800, &text);
  EXPECT_EQ(text, "\ufffd");
}

TEST(Utf8, FindsCharactersThatAreCutOff) {
  EXPECT_EQ(CutUtf8Size(""), 0);
  EXPECT_EQ(CutUtf8Size("abc"), 0);
  EXPECT_EQ(CutUtf8Size("a\xe2"), 1);
  EXPECT_EQ(CutUtf8Size("a\xe2\x82"), 2);
  EXPECT_EQ(CutUtf8Size("a\xe2\x82\xac"), 0);
  EXPECT_EQ(CutUtf8Size("\xf0\x9f\x98"), 3);
  EXPECT_EQ(CutUtf8Size("\x80\x80\x80\x80"), 0);
  EXPECT_EQ(CutUtf8Size("\xff"), 0);
}

TEST(Unicode, KnowsCategories) {
  EXPECT_TRUE(IsWhitespace(' '));
  EXPECT_TRUE(IsWhitespace(0x3000));
  EXPECT_FALSE(IsWhitespace(0x200b));
  EXPECT_TRUE(IsPunctuation('$'));
  EXPECT_TRUE(IsPunctuation(0x3002));
  EXPECT_FALSE(IsPunctuation(0x20ac));
  EXPECT_TRUE(IsControl(0x7));
  EXPECT_TRUE(IsControl(0x200b));
  EXPECT_TRUE(IsNonspacingMark(0x301));
  EXPECT_TRUE(IsAlphanumeric(0xbd));
  EXPECT_FALSE(IsAlphanumeric('_'));
  EXPECT_TRUE(IsChinese(0x6211));
}

TEST(Unicode, MapsCasesAndNormalForms) {
  EXPECT_EQ(Lowercase("ÀÉSS İ"), "àéss i\u0307");
  EXPECT_EQ(Uppercase("àé"), "ÀÉ");
  EXPECT_EQ(Normalized("é", NormalForm::kNfd), "e\u0301");
  EXPECT_EQ(Normalized("e\u0301", NormalForm::kNfc), "é");
  EXPECT_EQ(Normalized("ﬁ①", NormalForm::kNfkc), "fi1");
  EXPECT_EQ(Normalized("ﬁ", NormalForm::kNfc), "ﬁ");
  EXPECT_EQ(Normalized("é\xff", NormalForm::kNfc), "é\ufffd");
}

TEST(Regex, FindsMatchesByUnicodeProperties) {
  EXPECT_THAT(*Matches("\\p{L}+", "ab é1c"),
              ElementsAre(Pair(0, 2), Pair(3, 5), Pair(6, 7)));
  EXPECT_THAT(*Matches("\\s+(?!\\S)|\\s+", "a   b"),
              ElementsAre(Pair(1, 3), Pair(3, 4)));
}

TEST(Regex, ResumesBehindEmptyMatches) {
  EXPECT_THAT(*Matches("(?=é)", "éaé"), ElementsAre(Pair(0, 0), Pair(3, 3)));
  EXPECT_THAT(*Matches("", "é"), ElementsAre(Pair(0, 0), Pair(2, 2)));
}

TEST(Regex, QuotesTextsThatLookLikePatterns) {
  const std::string text = "a.b*(c)[d]\\ é$";
  EXPECT_THAT(*Matches(Regex::Quoted(text), "x" + text),
              ElementsAre(Pair(1, 1 + text.size())));
}

TEST(Regex, RefusesWhatIsNoPattern) {
  const auto regex = Regex::Compile("(a");
  ASSERT_FALSE(regex.ok());
  EXPECT_THAT(regex.status().message(),
              HasSubstr("pattern \"(a\": expected a regular expression"));
  EXPECT_EQ(Regex::Compile(std::string(40000, 'a')).status().code(),
            StatusCode::kResourceExhausted);
  EXPECT_FALSE(
      Regex::Compile(std::string(200, '(') + std::string(200, ')')).ok());
}

// This pattern has nested repetitions, so backtracking takes exponential time.
// It must end with an error.
TEST(Regex, EndsBacktrackingAtTheLimit) {
  const auto matches = Matches("(a+)+$", std::string(64, 'a') + "b");
  ASSERT_FALSE(matches.ok());
  EXPECT_EQ(matches.status().code(), StatusCode::kResourceExhausted);
}

TEST(Regex, SearchesLongTextsWithoutMatches) {
  const std::string text(3'000'000, 'a');
  EXPECT_THAT(*Matches("\\p{N}+", text + "12"),
              ElementsAre(Pair(text.size(), text.size() + 2)));
}

}  // namespace
}  // namespace ember::llm
