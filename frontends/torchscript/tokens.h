// Splits TorchScript's Python into tokens: names, numbers, texts, signs, and
// marks for the ends of lines and for the begin and end of blocks.
//
//   EMBER_ASSIGN_OR_RETURN(const std::vector<Token> tokens, Tokenize(text));
//
// Lines inside brackets are joined. The last token is kEnd. Thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_TOKENS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_TOKENS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::torchscript {

struct Token {
  enum class Kind : uint8_t {
    kName,
    kInteger,
    kFloat,
    kString,
    kSign,
    kLineEnd,
    kIndent,
    kDedent,
    kEnd
  };
  Kind kind = Kind::kEnd;
  int line = 0;
  // The text of the token; for kString without quotes, and with escapes
  // replaced.
  std::string text;
  int64_t integer = 0;
  double number = 0;
};

StatusOr<std::vector<Token>> Tokenize(std::string_view text);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_TOKENS_H_
