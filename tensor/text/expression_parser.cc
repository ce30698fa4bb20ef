#include "tensor/text/expression_parser.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tensor/text/tables.h"

namespace ember::tensor {
namespace {

// Largest depth of an expression. The limit bounds the stack that the parser
// uses for a text from outside.
constexpr int kMaxDepth = 400;

std::optional<Opcode> FindInfix(const Token& token) {
  if (token.kind != Token::kPunctuation) return std::nullopt;
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    const InstructionInfo& info = InfoOf(opcode);
    if (info.notation == Notation::Infix && info.text == token.text)
      return opcode;
  }
  return std::nullopt;
}

// Returns the instruction that is written as a function with this name, such as
// exp(x). Constants, axes and loads have a syntax of their own and are not
// found.
std::optional<Opcode> FindPrefix(std::string_view name) {
  for (int i = 0; i < kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    const InstructionInfo& info = InfoOf(opcode);
    const bool structural = info.group == InstructionGroup::kStructural;
    if (structural && opcode != Opcode::kSelect) continue;
    if (info.notation == Notation::Prefix && info.text == name) return opcode;
  }
  return std::nullopt;
}

}  // namespace

Status ExpressionParser::CheckDepth(Expression& expression) const {
  for (const Expression& operand : expression.operands) {
    expression.depth = std::max(expression.depth, operand.depth + 1);
  }
  if (expression.depth <= kMaxDepth && nesting_ <= kMaxDepth) return OkStatus();
  return ErrorAt(expression.token,
                 "expected at most " + std::to_string(kMaxDepth) +
                     " nested operations; name parts with 'let'");
}

Status ExpressionParser::CheckNesting() const {
  Expression here;
  here.token = lexer_.Peek();
  return CheckDepth(here);
}

StatusOr<Expression> ExpressionParser::ParseSum() {
  return ParseInfix(kSumPrecedence);
}

StatusOr<std::vector<Expression>> ExpressionParser::ParseIndices() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
  std::vector<Expression> indices;
  if (lexer_.Accept("]")) return indices;
  while (true) {
    EMBER_ASSIGN_OR_RETURN(Expression index, Parse());
    indices.push_back(std::move(index));
    if (lexer_.Accept("]")) return indices;
    if (!lexer_.Accept(",")) return lexer_.ExpectedError("',' or ']'");
  }
}

// Parses infix operations of at least this precedence (precedence climbing).
// All infix instructions associate to the left, except comparisons, which do
// not associate.
StatusOr<Expression> ExpressionParser::ParseInfix(int precedence) {
  ++nesting_;
  EMBER_ASSIGN_OR_RETURN(Expression left, ParsePrimary());
  while (const std::optional<Opcode> opcode = FindInfix(lexer_.Peek())) {
    const int own = PrecedenceOf(*opcode);
    if (own < precedence) break;
    Expression infix;
    infix.kind = Expression::kInstruction;
    infix.opcode = *opcode;
    infix.token = lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(Expression right, ParseInfix(own + 1));
    infix.operands.push_back(std::move(left));
    infix.operands.push_back(std::move(right));
    EMBER_RETURN_IF_ERROR(CheckDepth(infix));
    left = std::move(infix);
    if (own == kComparePrecedence) break;
  }
  --nesting_;
  return left;
}

StatusOr<Expression> ExpressionParser::ParsePrimary() {
  const Token token = lexer_.Peek();
  EMBER_RETURN_IF_ERROR(CheckNesting());
  if (lexer_.Accept("(")) {
    EMBER_ASSIGN_OR_RETURN(Expression inner, Parse());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    return inner;
  }
  if (token.kind == Token::kSigil && token.text[0] == '%') return ParseSigil();
  const bool is_word = token.Is("inf") || token.Is("nan") || token.Is("true") ||
                       token.Is("false");
  if (token.Is("-") || is_word || token.kind == Token::kInteger ||
      token.kind == Token::kFloat) {
    return ParseLiteral();
  }
  if (token.kind != Token::kIdentifier)
    return lexer_.ExpectedError("an expression");
  lexer_.Next();
  if (lexer_.Peek().Is("(")) {
    if (token.Is("raw")) return ParseRaw();
    if (const uint32_t width = VectorWidth(token.text); width != 0)
      return ParseVector(width);
    if (token.Is(kWideWord)) return ParseWide();
    return token.Is("bits") ? ParseBits(token) : ParseCall(token);
  }
  Expression name;
  name.kind = Expression::kName;
  name.token = token;
  return name;
}

StatusOr<Expression> ExpressionParser::ParseLiteral() {
  Expression literal;
  literal.token = lexer_.Peek();
  literal.negative = lexer_.Accept("-");
  const Token token = lexer_.Next();
  literal.token.text = token.text;
  literal.token.kind = token.kind;
  if (token.kind == Token::kInteger || token.kind == Token::kFloat) {
    literal.kind = Expression::kNumber;
  } else if (token.Is("inf")) {
    literal.kind = Expression::kWord;
  } else if (!literal.negative &&
             (token.Is("nan") || token.Is("true") || token.Is("false"))) {
    literal.kind = Expression::kWord;
  } else {
    return ErrorAt(token, "expected a number after '-'");
  }
  EMBER_RETURN_IF_ERROR(ParseLiteralType(literal));
  return literal;
}

StatusOr<Expression> ExpressionParser::ParseBits(const Token& name) {
  Expression literal;
  literal.kind = Expression::kBits;
  literal.token = name;
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  EMBER_ASSIGN_OR_RETURN(const Token bits,
                         lexer_.Expect(Token::kInteger, "the bits"));
  EMBER_ASSIGN_OR_RETURN(literal.number, IntegerValue(bits));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  EMBER_RETURN_IF_ERROR(ParseLiteralType(literal));
  return literal;
}

// Parses an optional type behind a literal, such as ":f16".
Status ExpressionParser::ParseLiteralType(Expression& literal) {
  if (lexer_.Accept(":")) {
    EMBER_ASSIGN_OR_RETURN(const Token type,
                           lexer_.Expect(Token::kIdentifier, "a type"));
    literal.type = DTypeFromName(type.text);
    if (!literal.type) {
      return ErrorAt(type,
                     "expected a type, found '" + std::string(type.text) + "'");
    }
  }
  return OkStatus();
}

StatusOr<Expression> ExpressionParser::ParseSigil() {
  Expression expression;
  expression.token = lexer_.Next();
  expression.kind = Expression::kSigil;
  if (!lexer_.Peek().Is("[")) return expression;
  expression.kind = Expression::kLoad;
  EMBER_ASSIGN_OR_RETURN(expression.operands, ParseIndices());
  EMBER_RETURN_IF_ERROR(CheckDepth(expression));
  return expression;
}

// Parses the operation in parentheses behind the word "raw": "(a / b)".
StatusOr<Expression> ExpressionParser::ParseRaw() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  const Token start = lexer_.Peek();
  EMBER_ASSIGN_OR_RETURN(Expression inner, Parse());
  if (inner.kind != Expression::kInstruction)
    return ErrorAt(start, "expected an instruction as the operand of raw");
  inner.is_raw = true;
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  return inner;
}

// Parses a load or pad in parentheses behind a word such as "vec4": "(%x[i])".
StatusOr<Expression> ExpressionParser::ParseVector(uint32_t width) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  const Token start = lexer_.Peek();
  EMBER_ASSIGN_OR_RETURN(Expression inner, Parse());
  if (inner.kind != Expression::kLoad && inner.kind != Expression::kPad)
    return ErrorAt(start, "expected a load or a pad as an element of a vector");
  inner.vector = width;
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  return inner;
}

// Parses the expression in parentheses behind the word "wide": "(N * M)".
StatusOr<Expression> ExpressionParser::ParseWide() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  EMBER_ASSIGN_OR_RETURN(Expression inner, Parse());
  inner.is_wide = true;
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  return inner;
}

std::optional<uint8_t> FindTest(const Token& token) {
  for (size_t i = 0; i < std::size(kTestNames); ++i) {
    if (token.Is(kTestNames[i])) return static_cast<uint8_t>(i);
  }
  return std::nullopt;
}

// Parses the tests behind the operands of a loop nest's pad, one for each dim:
// ", unsigned, none".
Status ExpressionParser::ParseTests(std::vector<uint8_t>& tests) {
  while (lexer_.Accept(",")) {
    const std::optional<uint8_t> test = FindTest(lexer_.Peek());
    if (!test) return lexer_.ExpectedError("a test of a pad's index");
    lexer_.Next();
    tests.push_back(*test);
  }
  return OkStatus();
}

StatusOr<Expression> ExpressionParser::ParseCall(const Token& name) {
  Expression call;
  call.kind = Expression::kInstruction;
  call.token = name;
  constexpr std::string_view kBitcast = "bitcast_";
  size_t count = 1;
  if (name.Is("pad")) {
    call.kind = Expression::kPad;
    count = 2;
  } else if (const std::optional<DType> type = DTypeFromName(name.text)) {
    call.opcode = Opcode::kCast;
    call.type = type;
  } else if (name.text.starts_with(kBitcast) &&
             DTypeFromName(name.text.substr(kBitcast.size()))) {
    call.opcode = Opcode::kBitcast;
    call.type = DTypeFromName(name.text.substr(kBitcast.size()));
  } else if (const std::optional<Opcode> opcode = FindPrefix(name.text)) {
    call.opcode = *opcode;
    count = static_cast<size_t>(RegisterOperandCount(*opcode));
  } else {
    return ErrorAt(name, "expected an instruction, found '" +
                             std::string(name.text) + "'");
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    const Token start = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(Expression operand, Parse());
    if (i == 0 && call.kind == Expression::kPad &&
        operand.kind != Expression::kLoad) {
      return ErrorAt(start, "expected a load as the first operand of pad");
    }
    call.operands.push_back(std::move(operand));
  }
  if (call.kind == Expression::kPad)
    EMBER_RETURN_IF_ERROR(ParseTests(call.tests));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  EMBER_RETURN_IF_ERROR(CheckDepth(call));
  return call;
}

}  // namespace ember::tensor
