// Splits a text into tokens. All parsers of text forms use it (graph, dispatch,
// program, schedule).
//
//   Lexer lexer("%y[i] = %x[i] + 1  // comment");
//   EMBER_ASSIGN_OR_RETURN(Token name,
//                          lexer.Expect(Token::kSigil, "a buffer"));
//   EMBER_RETURN_IF_ERROR(lexer.Expect("["));
//   if (lexer.Accept("]")) ...
//
// Tokens:
//   identifier  letters, digits, '_', '.', '$', starting with a letter or '_'
//   sigil       '%', '@', '^', '!' or '$' directly followed by identifier
//               characters: %x @main %0
//   integer     decimal digits, or 0x and hex digits; float 1.5, 1e-3, 0x1.8p3
//               (no sign: '-' is punctuation)
//   string      "..." with \" \\ \n \t \xHH
//   punctuation the longest of -> == != <= >= += -= *= /= && || << >> :: or one
//               other character
// White space and comments from // to the end of the line are skipped.
//
// Errors are one line: "3:14: expected ']', found 'x'". Tokens view the text,
// which must outlive them. Not thread-safe.
#ifndef EMBER_BASE_LEXER_H_
#define EMBER_BASE_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace ember {

struct Token {
  enum Kind : uint8_t {
    kEnd,
    kIdentifier,
    kSigil,
    kInteger,
    kFloat,
    kString,
    kPunctuation
  };
  Kind kind = kEnd;
  std::string_view
      // Source text of the token. The text of a string includes its quotes;
      // that of a sigil includes its first character, such as '%'.
      text;
  int line = 1;
  int column = 1;  // column of the token's first byte, counted from 1

  bool Is(std::string_view expected) const {
    return kind != kString && text == expected;
  }
  // Returns a sigil's text without its first character: "x" for "%x".
  std::string_view name() const { return text.substr(1); }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text);

  const Token& Peek() const { return current_; }
  Token Next();
  bool Accept(std::string_view text);
  Status Expect(std::string_view text);
  // Reads the next token and returns it. It is an error if the token is of
  // another kind. `what` describes the expected token in the error message: "a
  // name".
  StatusOr<Token> Expect(Token::Kind kind, std::string_view what);
  StatusOr<Token> ExpectSigil(char sign, std::string_view what);
  // Reads an integer with an optional minus sign. It is an error if it does not
  // fit 64 bits. `what` describes the expected token in the error message.
  StatusOr<int64_t> ExpectInteger(std::string_view what);
  bool AtEnd() const { return current_.kind == Token::kEnd; }

  // Returns the error "line:column: expected `expected`, found the current
  // token".
  Status ExpectedError(std::string_view expected) const;

 private:
  void Advance();
  void SkipSpace();
  size_t ScanNumber() const;
  size_t ScanString() const;

  std::string_view text_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  int line_ = 1;
  Token current_;
};

// Returns the error "line:column: message".
Status ErrorAt(const Token& token, std::string_view message);

// Returns the unsigned value of an integer token; an error if the value does
// not fit 64 bits or if the token is no integer.
StatusOr<uint64_t> IntegerValue(const Token& token);

// Returns the bytes of a string token; an error for an unknown escape or a
// missing quote, or if the token is no string.
StatusOr<std::string> StringValue(const Token& token);
// Returns the bytes as a quoted string with escapes. StringValue is its
// inverse.
std::string QuoteString(std::string_view bytes);

}  // namespace ember

#endif  // EMBER_BASE_LEXER_H_
