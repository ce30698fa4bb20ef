// Reads the tokens of a template one after the other, for the parsers.
//
//   if (reader.SkipName("else")) ...
//   EMBER_RETURN_IF_ERROR(reader.ExpectOperator(")"));
//
// The tokens must outlive the reader. Thread-compatible.
#ifndef EMBER_LLM_TEMPLATE_TOKEN_READER_H_
#define EMBER_LLM_TEMPLATE_TOKEN_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/template/lexer.h"

namespace ember::llm {

class TokenReader {
 public:
  // `tokens` must end with a token of kind kEnd.
  explicit TokenReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& next() const {
    return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_];
  }
  // Returns the current token and advances to the next one. At the last token
  // it does not advance.
  const Token& Take() {
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }

  bool Is(Token::Kind kind) const { return current().kind == kind; }
  bool IsName(std::string_view name) const {
    return Is(Token::Kind::kName) && current().text == name;
  }
  bool IsOperator(std::string_view text) const {
    return Is(Token::Kind::kOperator) && current().text == text;
  }
  // If the current token is this name or operator, advance past it and return
  // true.
  bool SkipName(std::string_view name) {
    if (!IsName(name)) return false;
    Take();
    return true;
  }
  bool SkipOperator(std::string_view text) {
    if (!IsOperator(text)) return false;
    Take();
    return true;
  }
  Status ExpectOperator(std::string_view text);
  Status ExpectName(std::string_view name);
  Status Expect(Token::Kind kind);
  StatusOr<std::string> TakeName();

  // Returns an error that says what was expected and what the current token is.
  Status Error(std::string_view expected) const;

 private:
  const std::vector<Token>& tokens_;
  size_t at_ = 0;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_TOKEN_READER_H_
