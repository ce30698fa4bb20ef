#include "base/lexer.h"

#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace ember {
namespace {

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> tokens;
  for (Lexer lexer(text); !lexer.AtEnd();) {
    const Token token = lexer.Next();
    tokens.push_back(std::string(1, "EISNFTP"[token.kind]) + ":" +
                     std::string(token.text));
  }
  return tokens;
}

TEST(LexerTest, Tokens) {
  EXPECT_EQ(Split("a_1.b %x0 @main %0 % x"),
            (std::vector<std::string>{"I:a_1.b", "S:%x0", "S:@main", "S:%0",
                                      "P:%", "I:x"}));
  EXPECT_EQ(Split("12 0x1F 1.5 1e-3 0x1.8p+3 1x3"),
            (std::vector<std::string>{"N:12", "N:0x1F", "F:1.5", "F:1e-3",
                                      "F:0x1.8p+3", "N:1x3"}));
  EXPECT_EQ(Split("a->b<=c==d +=+ <"),
            (std::vector<std::string>{"I:a", "P:->", "I:b", "P:<=", "I:c",
                                      "P:==", "I:d", "P:+=", "P:+", "P:<"}));
  EXPECT_EQ(
      Split("a // b\nc \"d // \\\" e\" f"),
      (std::vector<std::string>{"I:a", "I:c", "T:\"d // \\\" e\"", "I:f"}));
  EXPECT_TRUE(Split("  // nothing").empty());
}

TEST(LexerTest, ErrorsNameThePlace) {
  Lexer lexer("ab\n  (c");
  EXPECT_TRUE(lexer.Accept("ab"));
  EXPECT_FALSE(lexer.Accept("ab"));
  EXPECT_EQ(lexer.Expect(")").message(), "2:3: expected ')', found '('");
  EXPECT_TRUE(lexer.Expect("(").ok());
  EXPECT_EQ(lexer.Expect(Token::kInteger, "a number").status().message(),
            "2:4: expected a number, found 'c'");
  lexer.Next();
  EXPECT_EQ(lexer.Expect("x").message(),
            "2:5: expected 'x', found the end of the text");
  EXPECT_TRUE(lexer.Next().kind == Token::kEnd);
}

StatusOr<int64_t> Integer(std::string_view text) {
  Lexer lexer(text);
  return lexer.ExpectInteger("a number");
}

TEST(LexerTest, Integers) {
  EXPECT_EQ(*Integer("-12"), -12);
  EXPECT_EQ(*Integer("0x10"), 16);
  EXPECT_EQ(*Integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(Integer("9223372036854775808").status().message(),
            "1:1: the number does not fit 64 bits");
  EXPECT_EQ(Integer("99999999999999999999").status().message(),
            "1:1: the number does not fit 64 bits");
  EXPECT_EQ(Integer("1x3").status().message(),
            "1:1: expected an integer, found '1x3'");
  EXPECT_EQ(Integer("1.5").status().message(),
            "1:1: expected a number, found '1.5'");
}

TEST(LexerTest, StringsRoundTrip) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  const std::string quoted = QuoteString(all);
  Lexer lexer(quoted);
  const StatusOr<std::string> value = StringValue(lexer.Next());
  ASSERT_TRUE(value.ok()) << value.status().message();
  EXPECT_EQ(*value, all);
  EXPECT_TRUE(lexer.AtEnd());
}

TEST(LexerTest, BadStrings) {
  for (const char* text :
       {"\"abc", "\"a\\q\"", "\"a\\x1\"", "\"", "\"a\nb\"", "\"\\"}) {
    Lexer lexer(text);
    EXPECT_FALSE(StringValue(lexer.Next()).ok()) << text;
  }
}

TEST(LexerTest, AnyBytesEnd) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (uint32_t n = random() % 20; n > 0; --n) {
      text += random() % 4 ? "%\"\\x0e1.-/\n a@"[random() % 15]
                           : static_cast<char>(random());
    }
    size_t tokens = 0;
    for (Lexer lexer(text); !lexer.AtEnd(); ++tokens)
      (void)StringValue(lexer.Next());
    EXPECT_LE(tokens, text.size());
  }
}

}  // namespace
}  // namespace ember
