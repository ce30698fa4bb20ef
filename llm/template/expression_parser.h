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

  // Parses one expression. Commas after it are not read, so it is a tuple only
  // if it has parentheses.
  StatusOr<ExpressionPointer> Parse();
  // Parses an expression but not the conditional "a if b else c". It is used
  // for the items of a for statement, after which "if" begins a filter.
  StatusOr<ExpressionPointer> ParseWithoutConditional();
  // Parses one expression, or several separated by commas, which are a tuple.
  StatusOr<ExpressionPointer> ParseTuple(bool with_conditional);
  // Parses the filters that follow an expression ("|upper|trim") and apply to
  // `object`.
  StatusOr<ExpressionPointer> ParseFilters(ExpressionPointer object);
  // Parses a filter, whose name is the current token, and further filters after
  // it.
  StatusOr<ExpressionPointer> ParseFilterAndMore(ExpressionPointer object);

 private:
  using Result = StatusOr<ExpressionPointer>;
  using Kind = Expression::Kind;
  // Operators that have the same precedence.
  using Operators = std::initializer_list<std::string_view>;

  ExpressionPointer New(Kind kind, std::string_view name = {}) const;
  // Makes `child` the last child of `parent`. Returns an error if the tree gets
  // too deep.
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
  int depth_ = 0;  // number of nested calls of Parse and ParseUnary
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_EXPRESSION_PARSER_H_
