// The lexer of MLIR's text.
//
//   MlirLexer lexer("%0 = stablehlo.add %x, %y : tensor<2xf32>");
//
// Tokens are those of base/lexer.h with MLIR's spelling:
//   identifier  letters, digits, '_', '$', '.', starting with a letter or '_'
//   sigil       % @ ^ ! # and the name behind it, which may have '-' too;
//               @"any text"
//   integer     decimal digits, or 0x and hex digits; float 1.5e-3
//   string      "..." with \" \\ \n \t and two hex digits after '\'
//   punctuation -> :: {-# #-} ... or one other character
// Comments from // to the end of the line are white space.
//
// Errors are "line:column: …". Tokens view the text, which must outlive them.
// Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_LEXER_H_
#define EMBER_FRONTENDS_STABLEHLO_LEXER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/lexer.h"
#include "base/status.h"

namespace ember::stablehlo {

class MlirLexer {
 public:
  explicit MlirLexer(std::string_view text);

  const Token& Peek() const { return current_; }
  Token Next();
  bool Accept(std::string_view text);
  Status Expect(std::string_view text);
  bool AtEnd() const { return current_.kind == Token::kEnd; }
  // "line:column: expected `expected`, found the current token".
  Status ExpectedError(std::string_view expected) const;

  // A dim of a type and the 'x' after it: 4x or ?x, where the token that
  // follows is the next dim or the element type; -1 for "?". Nullopt if
  // there is none here (0x1 is a dim of 0, and no number in hex).
  StatusOr<std::optional<int64_t>> AcceptDim();
  // The text up to the bracket that closes the current token, which is one of
  // ( [ { <, both included.
  StatusOr<std::string_view> SkipBalanced();

 private:
  void Advance();
  void SkipSpace();
  size_t ScanNumber() const;
  size_t ScanString(size_t from) const;

  std::string_view text_;
  size_t position_ = 0;  // behind the current token
  size_t line_start_ = 0;
  int line_ = 1;
  Token current_;
};

// %name, @name …
inline bool IsSigil(const Token& token, char sign) {
  return token.kind == Token::kSigil && token.text[0] == sign;
}

// -1 for what is none.
int HexDigit(char c);

// The bytes of a string token.
StatusOr<std::string> MlirStringValue(const Token& token);
// The inverse.
std::string QuoteMlirString(std::string_view bytes);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_LEXER_H_
