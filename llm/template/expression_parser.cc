#include "llm/template/expression_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/concat.h"

namespace ember::llm {
namespace {

// An object of this class counts as one level of nested calls while it exists.
class Nested {
 public:
  explicit Nested(int* depth) : depth_(depth) { ++*depth_; }
  ~Nested() { --*depth_; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;

 private:
  int* depth_;
};

}  // namespace

ExpressionPointer ExpressionParser::New(Kind kind,
                                        std::string_view name) const {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = reader_.current().line;
  expression->name = name;
  return expression;
}

Status ExpressionParser::CheckDepth() const {
  if (depth_ <= kMaxSyntaxDepth) return OkStatus();
  return ResourceExhaustedError(
      Concat({"line ", reader_.current().line, ": expected at most ",
              kMaxSyntaxDepth, " nested expressions, found more"}));
}

Status ExpressionParser::Adopt(ExpressionPointer child,
                               Expression* parent) const {
  if (child != nullptr) {
    parent->depth = std::max(parent->depth, child->depth + 1);
  }
  parent->children.push_back(std::move(child));
  if (parent->depth <= kMaxSyntaxDepth) return OkStatus();
  return ResourceExhaustedError(
      Concat({"line ", parent->line, ": expected at most ", kMaxSyntaxDepth,
              " nested expressions, found more"}));
}

ExpressionParser::Result ExpressionParser::Join(Kind kind,
                                                std::string_view name,
                                                ExpressionPointer left,
                                                ExpressionPointer right) const {
  ExpressionPointer joined = New(kind, name);
  EMBER_RETURN_IF_ERROR(Adopt(std::move(left), joined.get()));
  EMBER_RETURN_IF_ERROR(Adopt(std::move(right), joined.get()));
  return joined;
}

ExpressionParser::Result ExpressionParser::Parse() {
  const Nested nested(&depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer value, ParseOr());
  while (reader_.SkipName("if")) {
    ExpressionPointer conditional = New(Kind::kConditional);
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer condition, ParseOr());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(condition), conditional.get()));
    EMBER_RETURN_IF_ERROR(Adopt(std::move(value), conditional.get()));
    if (reader_.SkipName("else")) {
      EMBER_ASSIGN_OR_RETURN(ExpressionPointer otherwise, Parse());
      EMBER_RETURN_IF_ERROR(Adopt(std::move(otherwise), conditional.get()));
    }
    value = std::move(conditional);
  }
  return value;
}

ExpressionParser::Result ExpressionParser::ParseWithoutConditional() {
  const Nested nested(&depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  return ParseOr();
}

ExpressionParser::Result ExpressionParser::ParseTuple(bool with_conditional) {
  const auto parse = [&] {
    return with_conditional ? Parse() : ParseWithoutConditional();
  };
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer first, parse());
  if (!reader_.IsOperator(",")) return first;
  ExpressionPointer tuple = New(Kind::kTuple);
  EMBER_RETURN_IF_ERROR(Adopt(std::move(first), tuple.get()));
  while (reader_.SkipOperator(",")) {
    if (reader_.Is(Token::Kind::kBlockEnd) ||
        reader_.Is(Token::Kind::kVariableEnd) || reader_.IsOperator(")")) {
      break;
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer next, parse());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(next), tuple.get()));
  }
  return tuple;
}

ExpressionParser::Result ExpressionParser::ParseOr() {
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer left, ParseAnd());
  while (reader_.SkipName("or")) {
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer right, ParseAnd());
    EMBER_ASSIGN_OR_RETURN(
        left, Join(Kind::kOr, "or", std::move(left), std::move(right)));
  }
  return left;
}

ExpressionParser::Result ExpressionParser::ParseAnd() {
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer left, ParseNot());
  while (reader_.SkipName("and")) {
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer right, ParseNot());
    EMBER_ASSIGN_OR_RETURN(
        left, Join(Kind::kAnd, "and", std::move(left), std::move(right)));
  }
  return left;
}

ExpressionParser::Result ExpressionParser::ParseNot() {
  if (!reader_.IsName("not")) return ParseCompare();
  const Nested nested(&depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  ExpressionPointer result = New(Kind::kUnary, "not");
  reader_.Take();
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer operand, ParseNot());
  EMBER_RETURN_IF_ERROR(Adopt(std::move(operand), result.get()));
  return result;
}

ExpressionParser::Result ExpressionParser::ParseCompare() {
  static constexpr std::string_view kOperators[] = {"==", "!=", "<",
                                                    "<=", ">",  ">="};
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer first, ParseSum());
  ExpressionPointer compare = New(Kind::kCompare);
  while (true) {
    std::string found;
    if (reader_.Is(Token::Kind::kOperator) &&
        std::find(std::begin(kOperators), std::end(kOperators),
                  reader_.current().text) != std::end(kOperators)) {
      found = reader_.Take().text;
    } else if (reader_.SkipName("in")) {
      found = "in";
    } else if (reader_.IsName("not") &&
               reader_.next().kind == Token::Kind::kName &&
               reader_.next().text == "in") {
      reader_.Take();
      reader_.Take();
      found = "not in";
    } else {
      break;
    }
    if (first != nullptr) {
      EMBER_RETURN_IF_ERROR(Adopt(std::move(first), compare.get()));
      first = nullptr;
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer next, ParseSum());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(next), compare.get()));
    compare->operators.push_back(std::move(found));
  }
  if (first != nullptr) return first;
  return compare;
}

ExpressionParser::Result ExpressionParser::ParseBinary(
    Operators operators, Result (ExpressionParser::*next)()) {
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer left, (this->*next)());
  while (reader_.Is(Token::Kind::kOperator) &&
         std::find(operators.begin(), operators.end(),
                   reader_.current().text) != operators.end()) {
    const std::string found = reader_.Take().text;
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer right, (this->*next)());
    EMBER_ASSIGN_OR_RETURN(
        left, Join(Kind::kBinary, found, std::move(left), std::move(right)));
  }
  return left;
}

ExpressionParser::Result ExpressionParser::ParseSum() {
  return ParseBinary({"+", "-"}, &ExpressionParser::ParseConcat);
}

ExpressionParser::Result ExpressionParser::ParseConcat() {
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer first, ParseProduct());
  if (!reader_.IsOperator("~")) return first;
  ExpressionPointer concat = New(Kind::kConcat);
  EMBER_RETURN_IF_ERROR(Adopt(std::move(first), concat.get()));
  while (reader_.SkipOperator("~")) {
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer next, ParseProduct());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(next), concat.get()));
  }
  return concat;
}

ExpressionParser::Result ExpressionParser::ParseProduct() {
  return ParseBinary({"*", "/", "//", "%"}, &ExpressionParser::ParsePower);
}

ExpressionParser::Result ExpressionParser::ParsePower() {
  return ParseBinary({"**"}, &ExpressionParser::ParseUnaryWithFilters);
}

ExpressionParser::Result ExpressionParser::ParseUnary(bool with_filters) {
  const Nested nested(&depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  ExpressionPointer result;
  if (reader_.IsOperator("-") || reader_.IsOperator("+")) {
    result = New(Kind::kUnary, reader_.current().text);
    reader_.Take();
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer operand, ParseUnary(false));
    EMBER_RETURN_IF_ERROR(Adopt(std::move(operand), result.get()));
  } else {
    EMBER_ASSIGN_OR_RETURN(result, ParsePrimary());
  }
  EMBER_ASSIGN_OR_RETURN(result, ParsePostfix(std::move(result)));
  if (with_filters) return ParseFiltersAndTests(std::move(result));
  return result;
}

ExpressionParser::Result ExpressionParser::ParsePrimary() {
  const Token& token = reader_.current();
  ExpressionPointer result = New(Kind::kConstant);
  switch (token.kind) {
    case Token::Kind::kName:
      if (token.text == "true" || token.text == "True") {
        result->value = Value(true);
      } else if (token.text == "false" || token.text == "False") {
        result->value = Value(false);
      } else if (token.text == "none" || token.text == "None") {
        result->value = Value();
      } else {
        result->kind = Kind::kName;
        result->name = token.text;
      }
      reader_.Take();
      return result;
    case Token::Kind::kString: {
      std::string text;
      while (reader_.Is(Token::Kind::kString)) text += reader_.Take().text;
      result->value = Value(std::move(text));
      return result;
    }
    case Token::Kind::kInteger: {
      int64_t number = 0;
      const std::string& digits = token.text;
      const auto read =
          std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (read.ec != std::errc()) {
        return reader_.Error("an integer of 64 bits");
      }
      reader_.Take();
      result->value = Value(number);
      return result;
    }
    case Token::Kind::kFloat: {
      double number = 0;
      const std::string& digits = token.text;
      const auto read =
          std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (read.ec != std::errc()) return reader_.Error("a float");
      reader_.Take();
      result->value = Value(number);
      return result;
    }
    default:
      break;
  }
  if (reader_.IsOperator("(")) return ParseParentheses();
  if (reader_.IsOperator("[")) return ParseList();
  if (reader_.IsOperator("{")) return ParseDict();
  return reader_.Error("an expression");
}

ExpressionParser::Result ExpressionParser::ParseParentheses() {
  ExpressionPointer result = New(Kind::kTuple);
  reader_.Take();
  if (reader_.SkipOperator(")")) return result;
  EMBER_ASSIGN_OR_RETURN(result, ParseTuple(true));
  EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(")"));
  return result;
}

ExpressionParser::Result ExpressionParser::ParseList() {
  ExpressionPointer list = New(Kind::kList);
  reader_.Take();
  while (!reader_.SkipOperator("]")) {
    if (!list->children.empty()) {
      EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(","));
      if (reader_.SkipOperator("]")) break;
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer item, Parse());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(item), list.get()));
  }
  return list;
}

ExpressionParser::Result ExpressionParser::ParseDict() {
  ExpressionPointer dict = New(Kind::kDict);
  reader_.Take();
  while (!reader_.SkipOperator("}")) {
    if (!dict->children.empty()) {
      EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(","));
      if (reader_.SkipOperator("}")) break;
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer key, Parse());
    EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(":"));
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer value, Parse());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(key), dict.get()));
    EMBER_RETURN_IF_ERROR(Adopt(std::move(value), dict.get()));
  }
  return dict;
}

ExpressionParser::Result ExpressionParser::ParsePostfix(
    ExpressionPointer object) {
  while (true) {
    if (reader_.IsOperator(".")) {
      ExpressionPointer attribute = New(Kind::kAttribute);
      reader_.Take();
      if (reader_.Is(Token::Kind::kInteger)) {
        // An integer after the point is an index: "items.0" means "items[0]".
        EMBER_ASSIGN_OR_RETURN(ExpressionPointer index, ParsePrimary());
        EMBER_ASSIGN_OR_RETURN(
            object, Join(Kind::kItem, "", std::move(object), std::move(index)));
        continue;
      }
      EMBER_ASSIGN_OR_RETURN(attribute->name, reader_.TakeName());
      EMBER_RETURN_IF_ERROR(Adopt(std::move(object), attribute.get()));
      object = std::move(attribute);
    } else if (reader_.IsOperator("[")) {
      EMBER_ASSIGN_OR_RETURN(object, ParseSubscript(std::move(object)));
    } else if (reader_.IsOperator("(")) {
      EMBER_ASSIGN_OR_RETURN(object, ParseCall(std::move(object)));
    } else {
      return object;
    }
  }
}

ExpressionParser::Result ExpressionParser::ParseSubscript(
    ExpressionPointer object) {
  ExpressionPointer result = New(Kind::kItem);
  reader_.Take();
  EMBER_RETURN_IF_ERROR(Adopt(std::move(object), result.get()));
  // The subscript of a slice has up to three expressions separated by colons,
  // [begin:end:step]. Each may be missing.
  ExpressionPointer parts[3];
  int count = 0;
  for (; count < 3; ++count) {
    if (!reader_.IsOperator(":") && !reader_.IsOperator("]")) {
      EMBER_ASSIGN_OR_RETURN(parts[count],
                             count == 0 ? ParseTuple(true) : Parse());
    }
    if (!reader_.SkipOperator(":")) break;
  }
  EMBER_RETURN_IF_ERROR(reader_.ExpectOperator("]"));
  if (count == 0) {
    if (parts[0] == nullptr) return reader_.Error("an index");
    EMBER_RETURN_IF_ERROR(Adopt(std::move(parts[0]), result.get()));
    return result;
  }
  result->kind = Kind::kSlice;
  for (ExpressionPointer& part : parts) {
    EMBER_RETURN_IF_ERROR(Adopt(std::move(part), result.get()));
  }
  return result;
}

ExpressionParser::Result ExpressionParser::ParseCall(
    ExpressionPointer function) {
  ExpressionPointer call = New(Kind::kCall);
  EMBER_RETURN_IF_ERROR(Adopt(std::move(function), call.get()));
  EMBER_RETURN_IF_ERROR(ParseArguments(call.get()));
  return call;
}

Status ExpressionParser::ParseArguments(Expression* call) {
  EMBER_RETURN_IF_ERROR(reader_.ExpectOperator("("));
  bool is_first = true;
  while (!reader_.SkipOperator(")")) {
    if (!is_first) {
      EMBER_RETURN_IF_ERROR(reader_.ExpectOperator(","));
      if (reader_.SkipOperator(")")) break;
    }
    is_first = false;
    std::string name;
    if (reader_.IsOperator("*") || reader_.IsOperator("**")) {
      name = reader_.Take().text;
    } else if (reader_.Is(Token::Kind::kName) &&
               reader_.next().kind == Token::Kind::kOperator &&
               reader_.next().text == "=") {
      name = reader_.Take().text;
      reader_.Take();
    }
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer value, Parse());
    EMBER_RETURN_IF_ERROR(Adopt(std::move(value), call));
    call->argument_names.push_back(std::move(name));
  }
  return OkStatus();
}

ExpressionParser::Result ExpressionParser::ParseFiltersAndTests(
    ExpressionPointer object) {
  while (true) {
    if (reader_.IsOperator("|")) {
      EMBER_ASSIGN_OR_RETURN(object, ParseFilter(std::move(object)));
    } else if (reader_.IsName("is")) {
      EMBER_ASSIGN_OR_RETURN(object, ParseTest(std::move(object)));
    } else if (reader_.IsOperator("(")) {
      EMBER_ASSIGN_OR_RETURN(object, ParseCall(std::move(object)));
    } else {
      return object;
    }
  }
}

ExpressionParser::Result ExpressionParser::ParseFilters(
    ExpressionPointer object) {
  while (reader_.IsOperator("|")) {
    EMBER_ASSIGN_OR_RETURN(object, ParseFilter(std::move(object)));
  }
  return object;
}

ExpressionParser::Result ExpressionParser::ParseFilter(
    ExpressionPointer object) {
  EMBER_RETURN_IF_ERROR(reader_.ExpectOperator("|"));
  return ParseNamedFilter(std::move(object));
}

ExpressionParser::Result ExpressionParser::ParseNamedFilter(
    ExpressionPointer object) {
  ExpressionPointer filter = New(Kind::kFilter);
  EMBER_ASSIGN_OR_RETURN(filter->name, reader_.TakeName());
  EMBER_RETURN_IF_ERROR(Adopt(std::move(object), filter.get()));
  if (reader_.IsOperator("(")) {
    EMBER_RETURN_IF_ERROR(ParseArguments(filter.get()));
  }
  return filter;
}

ExpressionParser::Result ExpressionParser::ParseFilterAndMore(
    ExpressionPointer object) {
  EMBER_ASSIGN_OR_RETURN(ExpressionPointer filter,
                         ParseNamedFilter(std::move(object)));
  return ParseFilters(std::move(filter));
}

bool ExpressionParser::BeginsTestArgument() const {
  switch (reader_.current().kind) {
    case Token::Kind::kName:
      return !reader_.IsName("else") && !reader_.IsName("or") &&
             !reader_.IsName("and") && !reader_.IsName("is");
    case Token::Kind::kString:
    case Token::Kind::kInteger:
    case Token::Kind::kFloat:
      return true;
    case Token::Kind::kOperator:
      return reader_.IsOperator("[") || reader_.IsOperator("{");
    default:
      return false;
  }
}

ExpressionParser::Result ExpressionParser::ParseTest(ExpressionPointer object) {
  ExpressionPointer test = New(Kind::kTest);
  EMBER_RETURN_IF_ERROR(reader_.ExpectName("is"));
  const bool is_negated = reader_.SkipName("not");
  EMBER_ASSIGN_OR_RETURN(test->name, reader_.TakeName());
  EMBER_RETURN_IF_ERROR(Adopt(std::move(object), test.get()));
  if (reader_.IsOperator("(")) {
    EMBER_RETURN_IF_ERROR(ParseArguments(test.get()));
  } else if (BeginsTestArgument()) {
    const Nested nested(&depth_);
    EMBER_RETURN_IF_ERROR(CheckDepth());
    EMBER_ASSIGN_OR_RETURN(ExpressionPointer argument, ParsePrimary());
    EMBER_ASSIGN_OR_RETURN(argument, ParsePostfix(std::move(argument)));
    EMBER_RETURN_IF_ERROR(Adopt(std::move(argument), test.get()));
    test->argument_names.emplace_back();
  }
  if (!is_negated) return test;
  ExpressionPointer negated = New(Kind::kUnary, "not");
  EMBER_RETURN_IF_ERROR(Adopt(std::move(test), negated.get()));
  return negated;
}

}  // namespace ember::llm
