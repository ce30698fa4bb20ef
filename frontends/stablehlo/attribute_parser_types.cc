// Parses the types in MLIR's text.
#include <utility>

#include "base/one_line.h"
#include "frontends/stablehlo/attribute_parser.h"

namespace ember::stablehlo {

StatusOr<std::string> AttributeParser::ParseElementType() {
  const Token token = lexer_.Next();
  std::string text(token.text);
  if (token.kind != Token::kIdentifier &&
      (token.kind != Token::kSigil || token.text[0] != '!'))
    return ErrorAt(token, "expected an element type, found '" +
                              OnOneLine(token.text.substr(0, 40)) + "'");
  if (token.kind == Token::kSigil) {
    const auto alias = type_aliases_.find(token.name());
    if (alias != type_aliases_.end()) {
      EMBER_RETURN_IF_ERROR(CheckNamed(ExtentOf(alias->second)));
      return ToString(alias->second);
    }
  }
  if (!lexer_.Peek().Is("<")) return text;
  EMBER_ASSIGN_OR_RETURN(const std::string parameters, TakeBracket());
  return text + parameters;
}

StatusOr<Type> AttributeParser::ParseTensorType() {
  Type type;
  type.kind = Type::Kind::kTensor;
  EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
  if (lexer_.Accept("*")) {
    type.kind = Type::Kind::kUnranked;
    // In tensor<*xf32> the lexer reads "xf32" as one token, so the x is removed
    // from the element type.
    const Token token = lexer_.Peek();
    if (token.kind != Token::kIdentifier || !token.text.starts_with('x'))
      return lexer_.ExpectedError("'x'");
    EMBER_ASSIGN_OR_RETURN(const std::string element, ParseElementType());
    type.element = element.substr(1);
  } else {
    while (true) {
      EMBER_ASSIGN_OR_RETURN(const std::optional<int64_t> dim,
                             lexer_.AcceptDim());
      if (!dim) break;
      if (type.dims.size() == 64)
        return lexer_.ExpectedError("at most 64 dims");
      type.dims.push_back(*dim);
    }
    EMBER_ASSIGN_OR_RETURN(type.element, ParseElementType());
  }
  if (lexer_.Accept(",")) {
    const Token token = lexer_.Next();
    type.encoding = std::string(token.text);
    if (lexer_.Peek().Is("<")) {
      EMBER_ASSIGN_OR_RETURN(const std::string parameters, TakeBracket());
      type.encoding += parameters;
    }
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
  return type;
}

StatusOr<std::vector<Type>> AttributeParser::ParseTypes() {
  std::vector<Type> types;
  if (!lexer_.Accept("(")) {
    EMBER_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
    return types;
  }
  if (lexer_.Accept(")")) return types;
  do {
    EMBER_ASSIGN_OR_RETURN(types.emplace_back(), ParseType());
  } while (lexer_.Accept(","));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  return types;
}

StatusOr<Type> AttributeParser::ParseType() {
  const Deeper deeper(depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  Type type;
  const Token token = lexer_.Peek();
  if (token.Is("(")) {
    type.kind = Type::Kind::kFunction;
    EMBER_ASSIGN_OR_RETURN(type.inputs, ParseTypes());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
    EMBER_ASSIGN_OR_RETURN(type.results, ParseTypes());
    return type;
  }
  if (token.kind == Token::kSigil && token.text[0] == '!') {
    if (token.text == "!stablehlo.token" || token.text == "!mhlo.token") {
      lexer_.Next();
      type.kind = Type::Kind::kToken;
      return type;
    }
    const auto alias = type_aliases_.find(token.name());
    if (alias != type_aliases_.end()) {
      lexer_.Next();
      EMBER_RETURN_IF_ERROR(CheckNamed(ExtentOf(alias->second)));
      return alias->second;
    }
    EMBER_ASSIGN_OR_RETURN(type.element, ParseElementType());
    return type;
  }
  if (token.kind != Token::kIdentifier) return lexer_.ExpectedError("a type");
  if (lexer_.Accept("tensor")) return ParseTensorType();
  if (lexer_.Accept("tuple")) {
    type.kind = Type::Kind::kTuple;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
    if (lexer_.Accept(">")) return type;
    do {
      EMBER_ASSIGN_OR_RETURN(type.results.emplace_back(), ParseType());
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
    return type;
  }
  EMBER_ASSIGN_OR_RETURN(type.element, ParseElementType());
  if (ElementBytes(type.element)) type.kind = Type::Kind::kScalar;
  return type;
}

}  // namespace ember::stablehlo
