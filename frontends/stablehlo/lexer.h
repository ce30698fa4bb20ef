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
  // Returns "line:column: expected `expected`, found the current token".
  Status ExpectedError(std::string_view expected) const;

  // Reads a dim of a type and the 'x' after it: 4x or ?x. The current token is
  // then the next dim or the element type. Returns -1 for "?", nullopt if no
  // dim is next. 0x1 is a dim of 0, not a number in hex.
  StatusOr<std::optional<int64_t>> AcceptDim();
  // Returns the text from the current token, one of ( [ { <, to the bracket
  // that closes it, both included.
  StatusOr<std::string_view> SkipBalanced();

 private:
  void Advance();
  void SkipSpace();
  size_t ScanNumber() const;
  size_t ScanString(size_t from) const;

  std::string_view text_;
  size_t position_ = 0;  // Position in the text after the current token.
  size_t line_start_ = 0;
  int line_ = 1;
  Token current_;
};

// True if the token is a name with the sigil `sign`, such as %name for '%' or
// @name for '@'.
inline bool IsSigil(const Token& token, char sign) {
  return token.kind == Token::kSigil && token.text[0] == sign;
}

// Returns the value of a hex digit; -1 if c is no hex digit.
int HexDigit(char c);

// Returns the bytes of a string token.
StatusOr<std::string> MlirStringValue(const Token& token);
// Undoes MlirStringValue: returns the bytes as a string token.
std::string QuoteMlirString(std::string_view bytes);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_LEXER_H_
