#include "llm/template/parser.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "llm/template/expression_parser.h"
#include "llm/template/lexer.h"
#include "llm/template/token_reader.h"

namespace ember::llm {
namespace {

using Kind = Statement::Kind;

constexpr int kMaxNestedStatements = 64;

class Parser {
 public:
  explicit Parser(const std::vector<Token>& tokens)
      : reader_(tokens), expressions_(&reader_) {}

  StatusOr<Statements> Parse() {
    EMBER_ASSIGN_OR_RETURN(Statements statements, ParseUntil({}));
    if (!reader_.Is(Token::Kind::kEnd)) {
      return reader_.Error("the end of the template");
    }
    return statements;
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  bool IsAnyOf(Names names) const {
    return reader_.Is(Token::Kind::kBlockBegin) &&
           reader_.next().kind == Token::Kind::kName &&
           std::find(names.begin(), names.end(), reader_.next().text) !=
               names.end();
  }

  // Parses statements up to a block whose name is one of `ends`. The "{%" of
  // that block is consumed, its name is not.
  StatusOr<Statements> ParseUntil(Names ends) {
    if (++depth_ > kMaxNestedStatements) {
      return ResourceExhaustedError(
          Concat({"line ", reader_.current().line, ": expected at most ",
                  kMaxNestedStatements, " nested statements, found more"}));
    }
    Statements statements;
    while (!reader_.Is(Token::Kind::kEnd)) {
      if (IsAnyOf(ends)) {
        reader_.Take();
        --depth_;
        return statements;
      }
      EMBER_RETURN_IF_ERROR(ParseStatement(&statements));
    }
    if (ends.size() > 0) return reader_.Error(EndNames(ends));
    --depth_;
    return statements;
  }

  static std::string EndNames(Names ends) {
    std::string names;
    for (const std::string_view end : ends) {
      if (!names.empty()) names += " or ";
      names += end;
    }
    return names;
  }

  Status ParseStatement(Statements* statements) {
    Statement statement;
    statement.line = reader_.current().line;
    if (reader_.Is(Token::Kind::kText)) {
      statement.text = reader_.Take().text;
    } else if (reader_.Is(Token::Kind::kVariableBegin)) {
      reader_.Take();
      statement.kind = Kind::kOutput;
      EMBER_ASSIGN_OR_RETURN(ExpressionPointer value,
                             expressions_.ParseTuple(true));
      statement.expressions.push_back(std::move(value));
      EMBER_RETURN_IF_ERROR(reader_.Expect(Token::Kind::kVariableEnd));
    } else {
      EMBER_RETURN_IF_ERROR(reader_.Expect(Token::Kind::kBlockBegin));
      EMBER_RETURN_IF_ERROR(ParseBlock(&statement));
    }
    statements->push_back(std::move(statement));
    return OkStatus();
  }

  // Parses a block; its "{%" has been consumed.
  Status ParseBlock(Statement* statement) {
    static constexpr struct {
      std::string_view name;
      Status (Parser::*parse)(Statement* statement);
    } kBlocks[] = {
        {"if", &Parser::ParseIf},
        {"for", &Parser::ParseFor},
        {"set", &Parser::ParseSet},
        {"macro", &Parser::ParseMacro},
        {"call", &Parser::ParseCallBlock},
        {"filter", &Parser::ParseFilterBlock},
        {"with", &Parser::ParseWith},
        {"generation", &Parser::ParseGeneration},
        {"break", &Parser::ParseBreak},
        {"continue", &Parser::ParseContinue},
    };
    for (const auto& block : kBlocks) {
      if (reader_.SkipName(block.name)) {
        return (this->*block.parse)(statement);
      }
    }
    return reader_.Error(
        "if, for, set, macro, call, filter, with, generation, break or "
        "continue");
  }

  Status EndBlock() { return reader_.Expect(Token::Kind::kBlockEnd); }

  // Parses the statements up to the block named `end`, and that block.
  Status ParseBody(std::string_view end, Statement* statement) {
    EMBER_ASSIGN_OR_RETURN(Statements body, ParseUntil({end}));
    statement->bodies.push_back(std::move(body));
    reader_.Take();
    return EndBlock();
  }

  Status ParseIf(Statement* statement) {
    statement->kind = Kind::kIf;
    while (true) {
      EMBER_ASSIGN_OR_RETURN(ExpressionPointer condition,
                             expressions_.ParseTuple(true));
      statement->expressions.push_back(std::move(condition));
      EMBER_RETURN_IF_ERROR(EndBlock());
      EMBER_ASSIGN_OR_RETURN(Statements body,
                             ParseUntil({"elif", "else", "endif"}));
      statement->bodies.push_back(std::move(body));
      const std::string end = reader_.Take().text;
      if (end == "elif") continue;
      EMBER_RETURN_IF_ERROR(EndBlock());
      if (end == "endif") return OkStatus();
      return ParseBody("endif", statement);
    }
  }

  StatusOr<AssignTarget> ParseTarget() {
    AssignTarget target;
    EMBER_ASSIGN_OR_RETURN(target.name, reader_.TakeName());
    if (reader_.SkipOperator(".")) {
      EMBER_ASSIGN_OR_RETURN(target.attribute, reader_.TakeName());
    }
    return target;
  }

  Status ParseTargets(Statement* statement) {
    const bool has_parentheses = reader_.SkipOperator("(");
    do {
      // The list may end with a comma. It ends here, too, if it is empty.
      if (!reader_.Is(Token::Kind::kName)) break;
      EMBER_ASSIGN_OR_RETURN(AssignTarget target, ParseTarget());
      statement->targets.push_back(std::move(target));
    } while (reader_.SkipOperator(","));
    if (has_parentheses) return reader_.ExpectOperator(")");
    if (statement->targets.empty()) return reader_.Error("a name");
    return OkStatus();
  }

  Status ParseFor(Statement* statement) {
    statement->kind = Kind::kFor;
    EMBER_RETURN_IF_ERROR(ParseTargets(statement));
    EMBER_RETURN_IF_ERROR(reader_.ExpectName("in"));
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer items,
                           expressions_.ParseTuple(false));
    ExpressionPointer filter;
    if (reader_.SkipName("if")) {
      EMBER_ASSIGN_OR_RETURN(filter, expressions_.Parse());
    }
    statement->expressions.push_back(std::move(items));
    statement->expressions.push_back(std::move(filter));
    statement->is_recursive = reader_.SkipName("recursive");
    EMBER_RETURN_IF_ERROR(EndBlock());
    ++loops_;
    EMBER_ASSIGN_OR_RETURN(Statements body, ParseUntil({"else", "endfor"}));
    --loops_;
    statement->bodies.push_back(std::move(body));
    const bool has_else = reader_.Take().text == "else";
    EMBER_RETURN_IF_ERROR(EndBlock());
    return has_else ? ParseBody("endfor", statement) : OkStatus();
  }

  ExpressionPointer BlockInput() const {
    auto input = std::make_unique<Expression>();
    input->kind = Expression::Kind::kName;
    input->line = reader_.current().line;
    input->name = kBlockInput;
    return input;
  }

  Status ParseSet(Statement* statement) {
    EMBER_RETURN_IF_ERROR(ParseTargets(statement));
    if (reader_.SkipOperator("=")) {
      statement->kind = Kind::kSet;
      EMBER_ASSIGN_OR_RETURN(ExpressionPointer value,
                             expressions_.ParseTuple(true));
      statement->expressions.push_back(std::move(value));
      return EndBlock();
    }
    statement->kind = Kind::kSetBlock;
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer filters,
                           expressions_.ParseFilters(BlockInput()));
    statement->expressions.push_back(std::move(filters));
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBody("endset", statement);
  }

  // Parses the parameters of a macro or call block, such as "(a, b=1)".
  Status ParseParameters(Statement* statement) {
    EMBER_RETURN_IF_ERROR(reader_.ExpectOperator("("));
    while (!reader_.SkipOperator(")")) {
      if (!statement->parameters.empty()) {
        EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(","));
        if (reader_.SkipOperator(")")) break;
      }
      EMBER_ASSIGN_OR_RETURN(std::string name, reader_.TakeName());
      ExpressionPointer value;
      if (reader_.SkipOperator("=")) {
        EMBER_ASSIGN_OR_RETURN(value, expressions_.Parse());
      }
      statement->parameters.emplace_back(std::move(name), std::move(value));
    }
    return OkStatus();
  }

  Status ParseMacro(Statement* statement) {
    statement->kind = Kind::kMacro;
    EMBER_ASSIGN_OR_RETURN(statement->text, reader_.TakeName());
    EMBER_RETURN_IF_ERROR(ParseParameters(statement));
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBodyOfFunction("endmacro", statement);
  }

  // Inside of a macro or call block, break and continue must not refer to a
  // loop outside of it. So the number of loops is 0 there.
  Status ParseBodyOfFunction(std::string_view end, Statement* statement) {
    const int loops = std::exchange(loops_, 0);
    EMBER_RETURN_IF_ERROR(ParseBody(end, statement));
    loops_ = loops;
    return OkStatus();
  }

  Status ParseCallBlock(Statement* statement) {
    statement->kind = Kind::kCallBlock;
    if (reader_.IsOperator("(")) {
      EMBER_RETURN_IF_ERROR(ParseParameters(statement));
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer call, expressions_.Parse());
    if (call->kind != Expression::Kind::kCall) return reader_.Error("a call");
    statement->expressions.push_back(std::move(call));
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBodyOfFunction("endcall", statement);
  }

  Status ParseFilterBlock(Statement* statement) {
    statement->kind = Kind::kFilterBlock;
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer filters,
                           expressions_.ParseFilterAndMore(BlockInput()));
    statement->expressions.push_back(std::move(filters));
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBody("endfilter", statement);
  }

  Status ParseWith(Statement* statement) {
    statement->kind = Kind::kWith;
    while (!reader_.Is(Token::Kind::kBlockEnd)) {
      if (!statement->targets.empty()) {
        EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(","));
      }
      EMBER_ASSIGN_OR_RETURN(std::string name, reader_.TakeName());
      statement->targets.push_back({std::move(name), ""});
      EMBER_RETURN_IF_ERROR(reader_.ExpectOperator("="));
      EMBER_ASSIGN_OR_RETURN(ExpressionPointer value, expressions_.Parse());
      statement->expressions.push_back(std::move(value));
    }
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBody("endwith", statement);
  }

  // The block {% generation %} marks the assistant's text for training. When a
  // template is rendered, it has no effect.
  Status ParseGeneration(Statement* statement) {
    statement->kind = Kind::kGroup;
    EMBER_RETURN_IF_ERROR(EndBlock());
    return ParseBody("endgeneration", statement);
  }

  Status ParseBreak(Statement* statement) {
    statement->kind = Kind::kBreak;
    if (loops_ == 0) return reader_.Error("a loop around break");
    return EndBlock();
  }

  Status ParseContinue(Statement* statement) {
    statement->kind = Kind::kContinue;
    if (loops_ == 0) return reader_.Error("a loop around continue");
    return EndBlock();
  }

  TokenReader reader_;
  ExpressionParser expressions_;
  int depth_ = 0;  // number of nested calls of ParseUntil
  int loops_ = 0;  // number of loops around the current statement
};

}  // namespace

StatusOr<Statements> ParseTemplate(std::string_view source) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<Token> tokens, LexTemplate(source));
  return Parser(tokens).Parse();
}

}  // namespace ember::llm
