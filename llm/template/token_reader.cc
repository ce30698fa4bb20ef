#include "llm/template/token_reader.h"

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"

namespace ember::llm {
namespace {

using Kind = Token::Kind;

std::string Description(const Token& token) {
  switch (token.kind) {
    case Kind::kText:
      return "text";
    case Kind::kBlockBegin:
      return "{%";
    case Kind::kBlockEnd:
      return "%}";
    case Kind::kVariableBegin:
      return "{{";
    case Kind::kVariableEnd:
      return "}}";
    case Kind::kEnd:
      return "the end of the template";
    case Kind::kName:
    case Kind::kString:
    case Kind::kInteger:
    case Kind::kFloat:
    case Kind::kOperator:
      break;
  }
  return "'" + OnOneLine(Shortened(token.text, 40)) + "'";
}

}  // namespace

Status TokenReader::Error(std::string_view expected) const {
  return InvalidArgumentError(
      Concat({"line ", current().line, ": expected ", expected, ", found ",
              Description(current())}));
}

Status TokenReader::ExpectOperator(std::string_view text) {
  return SkipOperator(text) ? OkStatus() : Error(text);
}

Status TokenReader::ExpectName(std::string_view name) {
  return SkipName(name) ? OkStatus() : Error(name);
}

Status TokenReader::Expect(Token::Kind kind) {
  if (!Is(kind)) return Error(Description({kind, 0, ""}));
  Take();
  return OkStatus();
}

StatusOr<std::string> TokenReader::TakeName() {
  if (!Is(Token::Kind::kName)) return Error("a name");
  return Take().text;
}

}  // namespace ember::llm
