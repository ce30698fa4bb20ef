#include "llm/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "llm/tokenizer/byte_characters.h"
#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/definition_parts.h"
#include "llm/tokenizer/split_rules.h"
#include "llm/tokenizer/text_stream.h"

namespace ember::llm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The ids of the test's tokens after those of the 256 bytes. kBegin is the
// control token "<s>", and kTool is the user-defined token "<tool>".
constexpr int32_t kHe = 256, kLl = 257, kHell = 258, kBegin = 259, kTool = 260;

TokenizerDefinition SmallDefinition() {
  TokenizerDefinition d;
  d.is_byte_level = true;
  for (int byte = 0; byte < 256; ++byte) {
    d.tokens.push_back({.text = std::string(1, static_cast<char>(byte))});
  }
  d.tokens.push_back({.text = "he"});
  d.tokens.push_back({.text = "ll"});
  d.tokens.push_back({.text = "hell"});
  d.tokens.push_back({.text = "<s>", .kind = TokenKind::kControl});
  d.tokens.push_back({.text = "<tool>", .kind = TokenKind::kUserDefined});
  d.merges = {{'h', 'e', kHe}, {'l', 'l', kLl}, {kHe, kLl, kHell}};
  d.begin_of_text = kBegin;
  d.prefix = {kBegin};
  d.ends_of_generation = {kTool};
  d.splits = {SplitAt(kGpt2Pattern, SplitStep::Behavior::kIsolated)};
  return d;
}

std::string ErrorOf(TokenizerDefinition definition) {
  const auto tokenizer = Tokenizer::Create(std::move(definition));
  return tokenizer.ok() ? "" : std::string(tokenizer.status().message());
}

TEST(Tokenizer, MergesInTheOrderOfTheList) {
  const auto tokenizer = Tokenizer::Create(SmallDefinition());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("hello", {.add_special = false}),
              ElementsAre(kHell, 'o'));
  EXPECT_THAT(*tokenizer->Encode("hlll", {.add_special = false}),
              ElementsAre('h', kLl, 'l'));
  EXPECT_THAT(*tokenizer->Encode("", {}), ElementsAre(kBegin));
}

TEST(Tokenizer, ReadsControlTokensOnlyOnRequest) {
  const auto tokenizer = Tokenizer::Create(SmallDefinition());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("<s>he<tool>", {}),
              ElementsAre(kBegin, '<', 's', '>', kHe, kTool));
  EXPECT_THAT(*tokenizer->Encode("<s>he<tool>", {.parse_special = true}),
              ElementsAre(kBegin, kBegin, kHe, kTool));
  EXPECT_TRUE(tokenizer->IsEndOfGeneration(kTool));
  EXPECT_FALSE(tokenizer->IsEndOfGeneration(kBegin));
}

TEST(Tokenizer, SpecialTokensTakeTheSpaceAroundThem) {
  TokenizerDefinition d = SmallDefinition();
  d.tokens[kTool].takes_space_before = true;
  d.tokens[kTool].takes_space_behind = true;
  const auto tokenizer = Tokenizer::Create(std::move(d));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("a \n<tool> \u3000b", {.add_special = false}),
              ElementsAre('a', kTool, 'b'));
  EXPECT_THAT(*tokenizer->Encode(" <tool> ", {.add_special = false}),
              ElementsAre(kTool));
}

TEST(Tokenizer, SingleWordsNeedBoundaries) {
  TokenizerDefinition d = SmallDefinition();
  d.tokens[kTool].text = "ha";
  d.tokens[kTool].is_single_word = true;
  const auto tokenizer = Tokenizer::Create(std::move(d));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("ha", {.add_special = false}),
              ElementsAre(kTool));
  EXPECT_THAT(*tokenizer->Encode("haé", {.add_special = false}),
              ElementsAre('h', 'a', 0xc3, 0xa9));
  EXPECT_THAT(*tokenizer->Encode("éha", {.add_special = false}),
              ElementsAre(0xc3, 0xa9, 'h', 'a'));
}

TEST(Tokenizer, EncodesInvalidUtf8AsReplacement) {
  const auto tokenizer = Tokenizer::Create(SmallDefinition());
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("a\xff", {.add_special = false}),
              ElementsAre('a', 0xef, 0xbf, 0xbd));
}

TEST(Tokenizer, DecodesWithoutControlTokens) {
  const auto tokenizer = Tokenizer::Create(SmallDefinition());
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<int32_t> ids = {kBegin, kHe, -1, 100000, kTool};
  EXPECT_EQ(tokenizer->Decode(ids), "he<tool>");
  EXPECT_EQ(tokenizer->Decode(ids, {.render_special = true}), "<s>he<tool>");
}

TEST(Tokenizer, IgnoresMergesOfWholeTokens) {
  TokenizerDefinition d = SmallDefinition();
  d.merges.pop_back();
  auto tokenizer = Tokenizer::Create(d);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("hell", {.add_special = false}),
              ElementsAre(kHe, kLl));
  d.ignores_merges = true;
  tokenizer = Tokenizer::Create(d);
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("hell", {.add_special = false}),
              ElementsAre(kHell));
}

TEST(Tokenizer, UnusedTokensSplitAgain) {
  TokenizerDefinition d;
  d.model = ModelKind::kScoredPairs;
  d.tokens = {{.text = "a", .score = -5},
              {.text = "b", .score = -5},
              {.text = "ab", .score = -1, .kind = TokenKind::kUnused},
              {.text = "abb", .score = -2}};
  const auto tokenizer = Tokenizer::Create(std::move(d));
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_THAT(*tokenizer->Encode("ab", {}), ElementsAre(0, 1));
  EXPECT_THAT(*tokenizer->Encode("abb", {}), ElementsAre(3));
}

TEST(Tokenizer, RefusesWrongDefinitions) {
  TokenizerDefinition d = SmallDefinition();
  d.tokens.clear();
  EXPECT_THAT(ErrorOf(d), HasSubstr("expected 1 to"));
  d = SmallDefinition();
  d.end_of_text = 1000;
  EXPECT_THAT(ErrorOf(d), HasSubstr("end of text: expected an id below 261"));
  d = SmallDefinition();
  d.suffix = {-1};
  EXPECT_THAT(ErrorOf(d), HasSubstr("suffix: expected an id below 261"));
  d = SmallDefinition();
  d.merges.push_back({0, 1, 9999});
  EXPECT_THAT(ErrorOf(d), HasSubstr("merge 3: expected ids below 261"));
  d = SmallDefinition();
  d.splits[0].pattern = "[";
  EXPECT_THAT(ErrorOf(d), HasSubstr("expected a regular expression"));
  d = SmallDefinition();
  d.tokens[7].kind = TokenKind::kByte;
  EXPECT_THAT(ErrorOf(d), HasSubstr("expected a byte such as <0x0A>"));
  d = SmallDefinition();
  d.tokens[7].score = NAN;
  EXPECT_THAT(ErrorOf(d), HasSubstr("expected a finite score"));
  d = SmallDefinition();
  d.tokens[7].text = std::string(kMaxTokenBytes + 1, 'a');
  EXPECT_THAT(ErrorOf(d), HasSubstr("token 7: expected at most"));
  d = SmallDefinition();
  d.normalizer = {{NormalizerStep::Kind::kCharacterMap, "", "\xff\xff\xff"}};
  EXPECT_THAT(ErrorOf(d), HasSubstr("character map: expected at least 4"));
  d = SmallDefinition();
  d.model = ModelKind::kWordPiece;
  EXPECT_THAT(ErrorOf(d), HasSubstr("expected the id of the unknown token"));
}

TEST(Tokenizer, LimitsTheGrowthOfTexts) {
  TokenizerDefinition d = SmallDefinition();
  d.normalizer = {
      {NormalizerStep::Kind::kReplace, "a", std::string(100'000, 'b')}};
  const auto tokenizer = Tokenizer::Create(std::move(d));
  ASSERT_TRUE(tokenizer.ok());
  const auto ids = tokenizer->Encode("aaaa", {});
  ASSERT_FALSE(ids.ok());
  EXPECT_THAT(ids.status().message(), HasSubstr("normalizer: expected"));
}

TEST(TextStream, HoldsBackPartsOfCharacters) {
  const auto tokenizer = Tokenizer::Create(SmallDefinition());
  ASSERT_TRUE(tokenizer.ok());
  TextStream stream(*tokenizer);
  EXPECT_EQ(stream.Push('a'), "a");
  EXPECT_EQ(stream.Push(0xe2), "");
  EXPECT_EQ(stream.Push(kBegin), "");
  EXPECT_EQ(stream.Push(0x82), "");
  EXPECT_EQ(stream.Push(0xac), "€");
  EXPECT_EQ(stream.Push(0xff), "\ufffd");
  EXPECT_EQ(stream.Push(0xe2), "");
  EXPECT_EQ(stream.Push('z'), "\ufffdz");
  EXPECT_EQ(stream.Push(0xf0), "");
  EXPECT_EQ(stream.Finish(), "\ufffd");
  EXPECT_EQ(stream.Finish(), "");
}

TEST(ByteTrie, FindsStringsByTheirBytes) {
  const ByteTrie trie({{"abc", 3}, {"", 9}, {"ab", 1}, {"ab", 2}, {"\xff", 4}});
  const int32_t a = trie.Child(ByteTrie::kRoot, 'a');
  const int32_t b = trie.Child(a, 'b');
  EXPECT_EQ(trie.ValueAt(ByteTrie::kRoot), -1);
  EXPECT_EQ(trie.ValueAt(a), -1);
  EXPECT_EQ(trie.ValueAt(b), 1);
  EXPECT_EQ(trie.ValueAt(trie.Child(b, 'c')), 3);
  EXPECT_EQ(trie.Child(b, 'd'), -1);
  EXPECT_EQ(trie.ValueAt(trie.Child(ByteTrie::kRoot, 0xff)), 4);
}

TEST(ByteCharacters, AreABijection) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  EXPECT_EQ(BytesOfCharacters(CharactersOfBytes(bytes)), bytes);
  EXPECT_EQ(CharactersOfBytes(" the"), "Ġthe");
  EXPECT_EQ(BytesOfCharacters("中"), "中");
}

TEST(SplitRules, AllPatternsCompile) {
  std::string names = SplitRuleNames() + ", ";
  int count = 0;
  for (size_t begin = 0; begin < names.size(); ++count) {
    const size_t end = names.find(", ", begin);
    const SplitRules* const rules =
        FindSplitRules(names.substr(begin, end - begin));
    ASSERT_NE(rules, nullptr);
    for (const std::string_view pattern : rules->patterns) {
      TokenizerDefinition d = SmallDefinition();
      d.splits = {SplitAt(pattern, SplitStep::Behavior::kIsolated)};
      EXPECT_THAT(ErrorOf(d), IsEmpty()) << pattern;
    }
    begin = end + 2;
  }
  EXPECT_GT(count, 50);
  EXPECT_EQ(FindSplitRules("gpt-9"), nullptr);
}

}  // namespace
}  // namespace ember::llm
