#include "llm/chat/plain_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/seeds.h"
#include "llm/tokenizer/tokenizer.h"

namespace ember::llm {
namespace {

// Returns a tokenizer with a token for each byte and control tokens with these
// names. Control tokens also take the white space that follows them.
Tokenizer Make(const std::vector<std::string>& names) {
  TokenizerDefinition d;
  d.is_byte_level = true;
  for (int byte = 0; byte < 256; ++byte)
    d.tokens.push_back({.text = std::string(1, static_cast<char>(byte))});
  for (const std::string& name : names) {
    d.tokens.push_back({.text = name,
                        .kind = TokenKind::kControl,
                        .takes_space_behind = true});
  }
  auto tokenizer = Tokenizer::Create(std::move(d));
  EXPECT_TRUE(tokenizer.ok());
  return *std::move(tokenizer);
}

std::vector<int32_t> Encode(const Tokenizer& tokenizer, std::string_view text) {
  auto ids = tokenizer.Encode(
      text,
      {.add_special = false, .parse_special = true, .text_mark = kTextMark});
  EXPECT_TRUE(ids.ok());
  return *std::move(ids);
}

TEST(PlainText, BreaksNames) {
  const Tokenizer tokenizer = Make({"<a>", "a>b", "｜x｜", "!"});
  const PlainText plain(tokenizer.vocabulary());
  const std::string mark(kTextMark);
  EXPECT_EQ(plain.Protect("no name"), "no name");
  EXPECT_EQ(plain.Protect("-<a> "), "-<" + mark + "a> ");
  // The names "<a>" and "a>b" overlap here. Each of them gets a mark.
  EXPECT_EQ(plain.Protect("<a>b."), "<" + mark + "a" + mark + ">b.");
  // The first character of this name has three bytes; the mark must follow the
  // whole character.
  EXPECT_EQ(plain.Protect("｜x｜."), "｜" + mark + "x｜.");
  // These texts end with the beginning of a special token's name, so kTextMark
  // is appended: the next text could complete the name.
  EXPECT_EQ(plain.Protect("x<"), "x<" + mark);
  EXPECT_EQ(plain.Protect("｜x"), "｜x" + mark);
  // A name of one character cannot be broken, and marks that the caller wrote
  // are removed first.
  EXPECT_EQ(plain.Protect("!"), "!");
  EXPECT_EQ(plain.Protect("<" + mark + "a>."), "<" + mark + "a>.");
  EXPECT_EQ(plain.Protect(mark), "");
}

TEST(PlainText, TextsStayTextWhereverTheyAreJoined) {
  constexpr std::string_view kAlphabet = "<|a> ";
  const SeedRange seeds = TestSeeds(2000);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(ReplayOf(seed, "//llm/chat:plain_text_test"));
    std::mt19937_64 random(seed);
    const auto text_of = [&](size_t most) {
      std::string text;
      for (size_t i = random() % (most + 1); i > 0; --i)
        text += kAlphabet[random() % kAlphabet.size()];
      return text;
    };
    std::vector<std::string> names;
    for (int j = 0; j < 4; ++j) names.push_back("<" + text_of(3) + "|");
    const Tokenizer tokenizer = Make(names);
    const PlainText plain(tokenizer.vocabulary());
    std::string text, safe;
    for (int j = 0; j < 4; ++j) {
      const std::string part = text_of(8);
      text += part;
      safe += plain.Protect(part);
    }
    const std::vector<int32_t> ids = Encode(tokenizer, safe);
    EXPECT_TRUE(std::ranges::all_of(ids, [](int32_t id) { return id < 256; }))
        << text;
    EXPECT_EQ(tokenizer.Decode(ids), text);
  }
}

}  // namespace
}  // namespace ember::llm
