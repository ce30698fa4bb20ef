#include "frontends/stablehlo/operation_parser.h"

#include "base/one_line.h"
#include "base/shortened.h"

namespace ember::stablehlo {
namespace {

// Largest number of results that one name may have, as in %0:2.
constexpr int64_t kMaxResults = 1 << 16;
// Largest number of bytes of a type that a message shows.
constexpr size_t kShownType = 200;

// Returns an operation's present name, with its dialect: "stablehlo.add" for
// the older "mhlo.add".
std::string FullName(std::string_view name) {
  if (name.starts_with("mhlo."))
    return "stablehlo." + std::string(name.substr(5));
  for (const std::string_view bare : {"return", "call"})
    if (name == bare || name == "std." + std::string(bare))
      return "func." + std::string(bare);
  return std::string(name);
}

}  // namespace

int OperationParser::AddValue(const Type& type) {
  function_.values.push_back({.type = type, .name = ""});
  return static_cast<int>(function_.values.size()) - 1;
}

StatusOr<int> OperationParser::Define(const Token& name, const Type& type) {
  const int value = AddValue(type);
  if (!scopes_.back().emplace(name.name(), std::pair(value, 1)).second)
    return ErrorAt(name, "expected a name that is not defined yet, found '" +
                             OnOneLine(name.text) + "'");
  const char first = name.name()[0];
  if (first < '0' || first > '9')
    function_.values.back().name = std::string(name.name());
  return value;
}

StatusOr<int> OperationParser::ParseOperand() {
  const Token token = lexer_.Peek();
  if (!IsSigil(token, '%')) return lexer_.ExpectedError("an operand");
  lexer_.Next();
  int64_t number = 0;
  bool numbered = false;
  if (IsSigil(lexer_.Peek(), '#') && lexer_.Peek().name()[0] >= '0' &&
      lexer_.Peek().name()[0] <= '9') {
    numbered = true;
    for (const char c : lexer_.Peek().name()) {
      if (c < '0' || c > '9' || number > kMaxResults)
        return lexer_.ExpectedError("the number of a result");
      number = number * 10 + (c - '0');
    }
    lexer_.Next();
  }
  for (size_t i = scopes_.size(); i-- > 0;) {
    const auto found = scopes_[i].find(token.name());
    if (found == scopes_[i].end()) continue;
    const auto [first, count] = found->second;
    if (number >= count || (!numbered && count != 1))
      return ErrorAt(token, "expected one of the " + std::to_string(count) +
                                " results of '" + OnOneLine(token.text) + "'");
    return first + static_cast<int>(number);
  }
  return ErrorAt(token, "expected a value that is defined before, found '" +
                            OnOneLine(token.text) + "'");
}

Status OperationParser::ParseOperands(Operation& operation,
                                      std::string_view close) {
  if (lexer_.Accept(close)) return OkStatus();
  do {
    EMBER_ASSIGN_OR_RETURN(operation.operands.emplace_back(), ParseOperand());
  } while (lexer_.Accept(","));
  return lexer_.Expect(close);
}

Status OperationParser::ParseBody(Region& region) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
  return ParseBlock(region);
}

Status OperationParser::ParseBlock(Region& region) {
  if (IsSigil(lexer_.Peek(), '^')) {
    const Token label = lexer_.Next();
    if (!region.arguments.empty())
      return ErrorAt(label, "expected one block in a region, found another");
    if (lexer_.Accept("(")) {
      while (!lexer_.Accept(")")) {
        if (!region.arguments.empty())
          EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
        const Token name = lexer_.Peek();
        if (!IsSigil(name, '%')) return lexer_.ExpectedError("an argument");
        lexer_.Next();
        EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
        EMBER_ASSIGN_OR_RETURN(const Type type, attributes_.ParseType());
        EMBER_ASSIGN_OR_RETURN(region.arguments.emplace_back(),
                               Define(name, type));
        EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
      }
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
  }
  return ParseOperations(region);
}

Status OperationParser::ParseOperations(Region& region) {
  while (!lexer_.Accept("}")) {
    if (lexer_.AtEnd()) return lexer_.ExpectedError("'}'");
    if (IsSigil(lexer_.Peek(), '^'))
      return lexer_.ExpectedError("one block in a region");
    EMBER_ASSIGN_OR_RETURN(region.operations.emplace_back(), ParseOperation());
  }
  return OkStatus();
}

Status OperationParser::ParseRegion(
    Region& region, std::span<const std::pair<Token, Type>> arguments) {
  if (scopes_.size() > static_cast<size_t>(kMaxDepth))
    return lexer_.ExpectedError("at most " + std::to_string(kMaxDepth) +
                                " regions in each other");
  scopes_.emplace_back();
  for (const auto& [name, type] : arguments) {
    EMBER_ASSIGN_OR_RETURN(region.arguments.emplace_back(), Define(name, type));
  }
  EMBER_RETURN_IF_ERROR(ParseBody(region));
  scopes_.pop_back();
  return OkStatus();
}

StatusOr<Operation> OperationParser::ParseOperation() {
  std::vector<ResultName> names;
  int64_t expected = 0;
  if (IsSigil(lexer_.Peek(), '%')) {
    do {
      ResultName& name = names.emplace_back();
      name.token = lexer_.Next();
      if (!IsSigil(name.token, '%'))
        return ErrorAt(name.token, "expected the name of a result");
      if (lexer_.Accept(":")) {
        EMBER_ASSIGN_OR_RETURN(const int64_t count,
                               attributes_.ParseInteger("a number of results"));
        if (count < 1 || count > kMaxResults)
          return ErrorAt(name.token, "expected 1 or more results");
        name.count = static_cast<int>(count);
      }
      expected += name.count;
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
  }
  const Token at = lexer_.Peek();
  Operation operation;
  operation.line = at.line;
  operation.column = at.column;
  std::vector<Type> results;
  if (at.kind == Token::kString) {
    EMBER_ASSIGN_OR_RETURN(const std::string name, MlirStringValue(at));
    operation.name = FullName(name);
    lexer_.Next();
    EMBER_RETURN_IF_ERROR(ParseGeneric(operation, at, results));
  } else if (at.kind == Token::kIdentifier) {
    operation.name = FullName(at.text);
    lexer_.Next();
    EMBER_RETURN_IF_ERROR(ParsePretty(operation, at, results));
  } else {
    return lexer_.ExpectedError("an operation");
  }
  EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
  if (!names.empty() && expected != static_cast<int64_t>(results.size())) {
    return ErrorAt(names.front().token,
                   "expected names for " + std::to_string(results.size()) +
                       " results, found " + std::to_string(expected));
  }
  for (const Type& type : results) operation.results.push_back(AddValue(type));
  size_t next = 0;
  for (const ResultName& name : names) {
    const std::pair<int, int> values(operation.results[next], name.count);
    if (!scopes_.back().emplace(name.token.name(), values).second)
      return ErrorAt(name.token,
                     "expected a name that is not defined yet, found '" +
                         OnOneLine(name.token.text) + "'");
    next += static_cast<size_t>(name.count);
  }
  return operation;
}

// Parses the generic form after the name: (operands) <{properties}> ({region},
// …) {attributes} : (types) -> types
Status OperationParser::ParseGeneric(Operation& operation, const Token& at,
                                     std::vector<Type>& results) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  EMBER_RETURN_IF_ERROR(ParseOperands(operation, ")"));
  if (lexer_.Peek().Is("["))
    return lexer_.ExpectedError("no successors, as regions have one block");
  if (lexer_.Accept("<")) {
    EMBER_ASSIGN_OR_RETURN(operation.attributes, attributes_.ParseAttributes());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
  }
  if (lexer_.Accept("(")) {
    do {
      EMBER_RETURN_IF_ERROR(ParseRegion(operation.regions.emplace_back(), {}));
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  }
  EMBER_RETURN_IF_ERROR(ParseMoreAttributes(operation));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
  return ParseFunctionType(operation, at, results);
}

Status OperationParser::ParseMoreAttributes(Operation& operation) {
  if (!lexer_.Peek().Is("{")) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(AttributeList more, attributes_.ParseAttributes());
  for (auto& entry : more) operation.attributes.push_back(std::move(entry));
  return OkStatus();
}

Status OperationParser::ParseFunctionType(const Operation& operation,
                                          const Token& at,
                                          std::vector<Type>& results) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<Type> operands,
                         attributes_.ParseTypes());
  EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
  EMBER_ASSIGN_OR_RETURN(results, attributes_.ParseTypes());
  return CheckOperands(operation, operands, at);
}

Status OperationParser::CheckOperand(const Operation& operation, size_t index,
                                     const Type& type, const Token& at) const {
  const Type& found = TypeOf(operation.operands[index]);
  if (found == type) return OkStatus();
  return ErrorAt(at, "operand " + std::to_string(index) + ": expected " +
                         OnOneLine(Shortened(ToString(type), kShownType)) +
                         ", found " +
                         OnOneLine(Shortened(ToString(found), kShownType)));
}

Status OperationParser::CheckOperands(const Operation& operation,
                                      const std::vector<Type>& types,
                                      const Token& at) const {
  if (types.size() != operation.operands.size())
    return ErrorAt(at, "expected types of " +
                           std::to_string(operation.operands.size()) +
                           " operands, found " + std::to_string(types.size()));
  for (size_t i = 0; i < types.size(); ++i)
    EMBER_RETURN_IF_ERROR(CheckOperand(operation, i, types[i], at));
  return OkStatus();
}

}  // namespace ember::stablehlo
