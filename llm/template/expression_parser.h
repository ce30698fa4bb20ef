// Parses the expressions of templates, by recursive descent.
//
//   ExpressionParser parser(&reader);
//   EMBER_ASSIGN_OR_RETURN(ExpressionPointer e, parser.Parse());
//
// Trees are at most kMaxSyntaxDepth deep; a deeper expression is an error.
// Thread-compatible. Source: the documentation of Jinja, "Expressions".
#ifndef EMBER_LLM_TEMPLATE_EXPRESSION_PARSER_H_
#define EMBER_LLM_TEMPLATE_EXPRESSION_PARSER_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "llm/template/syntax.h"
#include "llm/template/token_reader.h"

namespace ember::llm {

class ExpressionParser {
 public:
  explicit ExpressionParser(TokenReader* reader) : reader_(*reader) {}

  // Parses an expression; without parentheses it is no tuple.
  StatusOr<ExpressionPointer> Parse();
  // Parses an expression without a conditional at its end: the items of a for,
  // whose filter begins with "if".
  StatusOr<ExpressionPointer> ParseWithoutConditional();
  // Parses one or more expressions; several with commas between are a tuple.
  StatusOr<ExpressionPointer> ParseTuple(bool with_conditional);
  // Parses filters ("|upper|trim") that apply to `object`.
  StatusOr<ExpressionPointer> ParseFilters(ExpressionPointer object);
  // Parses the filter whose name is the current token, and those behind it.
  StatusOr<ExpressionPointer> ParseFilterAndMore(ExpressionPointer object);

 private:
  using Result = StatusOr<ExpressionPointer>;
  using Kind = Expression::Kind;
  // A row of operators of equal precedence.
  using Operators = std::initializer_list<std::string_view>;

  ExpressionPointer New(Kind kind, std::string_view name = {}) const;
  // Adds a child; an error if the tree becomes too deep.
  Status Adopt(ExpressionPointer child, Expression* parent) const;
  Result Join(Kind kind, std::string_view name, ExpressionPointer left,
              ExpressionPointer right) const;
  Status CheckDepth() const;

  Result ParseOr();
  Result ParseAnd();
  Result ParseNot();
  Result ParseCompare();
  Result ParseBinary(Operators operators, Result (ExpressionParser::*next)());
  Result ParseSum();
  Result ParseConcat();
  Result ParseProduct();
  Result ParsePower();
  Result ParseUnary(bool with_filters);
  Result ParseUnaryWithFilters() { return ParseUnary(true); }
  Result ParsePrimary();
  Result ParseParentheses();
  Result ParseList();
  Result ParseDict();
  Result ParsePostfix(ExpressionPointer object);
  Result ParseFiltersAndTests(ExpressionPointer object);
  Result ParseFilter(ExpressionPointer object);
  Result ParseNamedFilter(ExpressionPointer object);
  Result ParseTest(ExpressionPointer object);
  Result ParseSubscript(ExpressionPointer object);
  Result ParseCall(ExpressionPointer function);
  Status ParseArguments(Expression* call);
  bool BeginsTestArgument() const;

  TokenReader& reader_;
  int depth_ = 0;  // Nested calls of Parse and ParseUnary.
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_EXPRESSION_PARSER_H_
