// Parses the pretty forms in which dialects print their operations.
#include <optional>

#include "base/one_line.h"
#include "frontends/stablehlo/operation_parser.h"

namespace ember::stablehlo {
namespace {

// Returns the bits of exponent and mantissa in a text such as "e5m10"; nullopt
// for text of another form.
std::optional<std::pair<int64_t, int64_t>> ParseFormat(std::string_view text) {
  const size_t m = text.find('m');
  if (!text.starts_with('e') || m == std::string_view::npos) return {};
  const auto number = [](std::string_view digits) -> int64_t {
    int64_t value = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9' || value > 1000) return -1;
      value = value * 10 + (c - '0');
    }
    return digits.empty() ? -1 : value;
  };
  const int64_t exponent = number(text.substr(1, m - 1));
  const int64_t mantissa = number(text.substr(m + 1));
  if (exponent < 0 || mantissa < 0) return {};
  return std::pair(exponent, mantissa);
}

}  // namespace

Status OperationParser::ParsePretty(Operation& operation, const Token& at,
                                    std::vector<Type>& results) {
  const std::string& name = operation.name;
  if (name == "stablehlo.reduce") return ParseReduce(operation, at, results);
  if (name == "stablehlo.while") return ParseWhile(operation, at, results);
  if (name.ends_with(".constant")) {
    if (lexer_.Accept("(")) EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    EMBER_RETURN_IF_ERROR(ParseMoreAttributes(operation));
    EMBER_ASSIGN_OR_RETURN(Attribute value, attributes_.ParseAttribute());
    results = {value.type};
    operation.attributes.emplace_back("value", std::move(value));
    return OkStatus();
  }
  const PrettyForm& form = PrettyFormOf(name);
  words_ = 0;
  while (!lexer_.Peek().Is(":")) {
    const Token token = lexer_.Peek();
    // An operation without operands and results, such as an empty return, has
    // no list of types.
    if (lexer_.AtEnd() || token.Is("}") || token.Is("loc")) break;
    EMBER_RETURN_IF_ERROR(ParseItem(operation, form));
  }
  if (!lexer_.Accept(":")) {
    if (operation.operands.empty()) return OkStatus();
    return lexer_.ExpectedError("':'");
  }
  return ParseTrailingTypes(operation, form, at, results);
}

Status OperationParser::ParseItem(Operation& operation,
                                  const PrettyForm& form) {
  if (lexer_.Accept(",")) return OkStatus();
  const Token token = lexer_.Peek();
  if (IsSigil(token, '%')) {
    EMBER_ASSIGN_OR_RETURN(operation.operands.emplace_back(), ParseOperand());
    return lexer_.Peek().Is("[") ? ParseRanges(operation) : OkStatus();
  }
  if (lexer_.Accept("(")) {
    while (!lexer_.Accept(")")) {
      if (lexer_.Peek().Is("(") || lexer_.AtEnd())
        return lexer_.ExpectedError("an operand");
      EMBER_RETURN_IF_ERROR(ParseItem(operation, form));
    }
    return OkStatus();
  }
  if (token.Is("{")) return ParseMoreAttributes(operation);
  if (IsSigil(token, '@')) {
    EMBER_ASSIGN_OR_RETURN(Attribute symbol, attributes_.ParseAttribute());
    operation.attributes.emplace_back(
        operation.name == "func.call" ? "callee" : "call_target_name",
        std::move(symbol));
    return OkStatus();
  }
  if (token.kind == Token::kString) {
    EMBER_ASSIGN_OR_RETURN(Attribute name, attributes_.ParseAttribute());
    operation.attributes.emplace_back("name", std::move(name));
    return OkStatus();
  }
  if (token.Is("<")) return lexer_.SkipBalanced().status();
  if (token.kind == Token::kIdentifier) return ParseKeyword(operation, form);
  return lexer_.ExpectedError("an operand, an attribute or ':'");
}

// Parses an attribute of a pretty form: keyword = value, or a word without a
// keyword.
Status OperationParser::ParseKeyword(Operation& operation,
                                     const PrettyForm& form) {
  const Token word = lexer_.Next();
  if (!lexer_.Accept("=")) {
    if (words_ >= form.words.size())
      return ErrorAt(word, "expected an operand, an attribute or ':', found '" +
                               OnOneLine(word.text.substr(0, 40)) + "'");
    Attribute attribute;
    attribute.kind = Attribute::Kind::kEnum;
    attribute.text = std::string(word.text);
    operation.attributes.emplace_back(std::string(form.words[words_++]),
                                      std::move(attribute));
    return OkStatus();
  }
  std::string name(form.AttributeOf(word.text));
  if (name == "window" && lexer_.Peek().Is("{")) return ParseWindow(operation);
  Attribute value;
  if (name == "dimension_numbers") {
    EMBER_ASSIGN_OR_RETURN(value, attributes_.ParseConvolutionDims());
  } else {
    EMBER_ASSIGN_OR_RETURN(value, attributes_.ParseLoose());
  }
  if (name == "batching_dims" || name == "contracting_dims") {
    // batching_dims and contracting_dims each have one list per operand. All
    // four lists become the fields of one structure, dot_dimension_numbers.
    EMBER_RETURN_IF_ERROR(lexer_.Expect("x"));
    EMBER_ASSIGN_OR_RETURN(Attribute other, attributes_.ParseLoose());
    const std::string kind =
        name == "batching_dims" ? "batching" : "contracting";
    if (operation.attributes.empty() ||
        operation.attributes.back().name != "dot_dimension_numbers") {
      Attribute dims;
      dims.kind = Attribute::Kind::kStruct;
      dims.text = "dot";
      operation.attributes.emplace_back("dot_dimension_numbers",
                                        std::move(dims));
    }
    AttributeList& entries = operation.attributes.back().value.entries;
    entries.emplace_back("lhs_" + kind + "_dimensions", std::move(value));
    entries.emplace_back("rhs_" + kind + "_dimensions", std::move(other));
    return OkStatus();
  }
  if (name == "format" && value.kind == Attribute::Kind::kEnum) {
    const auto format = ParseFormat(value.text);
    if (!format) return ErrorAt(word, "expected a format as e5m10");
    operation.attributes.emplace_back("exponent_bits",
                                      IntegerAttribute(format->first));
    operation.attributes.emplace_back("mantissa_bits",
                                      IntegerAttribute(format->second));
    return OkStatus();
  }
  operation.attributes.emplace_back(std::move(name), std::move(value));
  return OkStatus();
}

// Parses the bounds of a slice, [start:limit:stride, …], or the index of a
// get_tuple_element, [index].
Status OperationParser::ParseRanges(Operation& operation) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
  std::vector<int64_t> starts, limits, strides;
  if (operation.name == "stablehlo.get_tuple_element") {
    EMBER_ASSIGN_OR_RETURN(const int64_t index,
                           attributes_.ParseInteger("an index"));
    operation.attributes.emplace_back("index", IntegerAttribute(index));
    return lexer_.Expect("]");
  }
  while (!lexer_.Accept("]")) {
    if (!starts.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    EMBER_ASSIGN_OR_RETURN(starts.emplace_back(),
                           attributes_.ParseInteger("a start"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(limits.emplace_back(),
                           attributes_.ParseInteger("a limit"));
    strides.push_back(1);
    if (lexer_.Accept(":")) {
      EMBER_ASSIGN_OR_RETURN(strides.back(),
                             attributes_.ParseInteger("a stride"));
    }
  }
  operation.attributes.emplace_back("start_indices",
                                    IntegersAttribute(std::move(starts)));
  operation.attributes.emplace_back("limit_indices",
                                    IntegersAttribute(std::move(limits)));
  operation.attributes.emplace_back("strides",
                                    IntegersAttribute(std::move(strides)));
  return OkStatus();
}

// Parses the window of a convolution: {stride = [1, 1], pad = [[0, 0], [1, 1]],
// lhs_dilate = …, …}.
Status OperationParser::ParseWindow(Operation& operation) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"stride", "window_strides"},   {"pad", "padding"},
      {"lhs_dilate", "lhs_dilation"}, {"rhs_dilate", "rhs_dilation"},
      {"reverse", "window_reversal"},
  };
  EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
  while (!lexer_.Accept("}")) {
    const Token key = lexer_.Next();
    std::string_view name;
    for (const auto& [text, attribute] : kNames)
      if (key.Is(text)) name = attribute;
    if (name.empty())
      return ErrorAt(key,
                     "expected stride, pad, lhs_dilate, rhs_dilate or "
                     "reverse");
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(Attribute value, attributes_.ParseLoose());
    operation.attributes.emplace_back(std::string(name), std::move(value));
    lexer_.Accept(",");
  }
  return OkStatus();
}

Status OperationParser::ParseTrailingTypes(Operation& operation,
                                           const PrettyForm& form,
                                           const Token& at,
                                           std::vector<Type>& results) {
  // A list of types may be written as a function type, (a, b) -> c, which has
  // its own parser.
  if (lexer_.Peek().Is("(")) return ParseFunctionType(operation, at, results);
  std::vector<Type> types;
  do {
    EMBER_ASSIGN_OR_RETURN(types.emplace_back(), attributes_.ParseType());
  } while (lexer_.Accept(","));
  if (lexer_.Accept("->")) {
    EMBER_ASSIGN_OR_RETURN(results, attributes_.ParseTypes());
    return CheckOperands(operation, types, at);
  }
  switch (form.types) {
    case TypeForm::kOperands:
      return CheckOperands(operation, types, at);
    case TypeForm::kPairwise:
      results = types;
      return CheckOperands(operation, types, at);
    case TypeForm::kResult:
      results = {types.back()};
      return OkStatus();
    case TypeForm::kSelect:
      if (types.size() == 2) {
        results = {types[1]};
        return CheckOperands(operation, {types[0], types[1], types[1]}, at);
      }
      break;
    case TypeForm::kSame:
      break;
  }
  results = {types.back()};
  if (types.size() == 1) {
    for (size_t i = 0; i < operation.operands.size(); ++i)
      EMBER_RETURN_IF_ERROR(CheckOperand(operation, i, types.front(), at));
    return OkStatus();
  }
  if (types.size() == operation.operands.size() + 1) types.pop_back();
  return CheckOperands(operation, types, at);
}

// Parses a reduce after its name: (%x init: %c), … [applies op] across
// dimensions = […] {…} : type [reducer(%a: t, %b: t) … {…}].
Status OperationParser::ParseReduce(Operation& operation, const Token& at,
                                    std::vector<Type>& results) {
  std::vector<int> starts;
  do {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    EMBER_ASSIGN_OR_RETURN(operation.operands.emplace_back(), ParseOperand());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("init"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(starts.emplace_back(), ParseOperand());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  } while (lexer_.Accept(","));
  operation.operands.insert(operation.operands.end(), starts.begin(),
                            starts.end());
  std::string applied;
  const Token applies = lexer_.Peek();
  if (lexer_.Accept("applies")) {
    if (lexer_.Peek().kind != Token::kIdentifier || starts.size() != 1)
      return lexer_.ExpectedError("an operation on one operand");
    applied = std::string(lexer_.Next().text);
    if (applied.starts_with("mhlo."))
      applied = "stablehlo." + applied.substr(5);
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect("across"));
  EMBER_RETURN_IF_ERROR(lexer_.Expect("dimensions"));
  EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
  EMBER_ASSIGN_OR_RETURN(Attribute dims, attributes_.ParseLoose());
  operation.attributes.emplace_back("dimensions", std::move(dims));
  EMBER_RETURN_IF_ERROR(ParseMoreAttributes(operation));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
  EMBER_RETURN_IF_ERROR(ParseFunctionType(operation, at, results));
  if (applied.empty()) {
    EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
    return ParseReducer(operation);
  }
  // Makes the body of the reduction, which the name of the operation after
  // "applies" implies.
  const Type scalar = TensorOf(TypeOf(starts.front()).element, {});
  Region& region = operation.regions.emplace_back();
  region.arguments = {AddValue(scalar), AddValue(scalar)};
  Operation inner;
  inner.name = std::move(applied);
  inner.line = applies.line;
  inner.column = applies.column;
  inner.operands = region.arguments;
  inner.results = {AddValue(scalar)};
  Operation end;
  end.name = "stablehlo.return";
  end.line = applies.line;
  end.column = applies.column;
  end.operands = inner.results;
  region.operations.push_back(std::move(inner));
  region.operations.push_back(std::move(end));
  return OkStatus();
}

// Parses the body of a reduce: reducer(%a0: t, %b0: t) (%a1: u, %b1: u) { … }.
// The region's arguments are %a0, %a1, …, then %b0, %b1, ….
Status OperationParser::ParseReducer(Operation& operation) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("reducer"));
  std::vector<std::pair<Token, Type>> first, second;
  while (lexer_.Accept("(")) {
    for (auto* side : {&first, &second}) {
      const Token name = lexer_.Peek();
      if (!IsSigil(name, '%')) return lexer_.ExpectedError("an argument");
      lexer_.Next();
      EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
      EMBER_ASSIGN_OR_RETURN(Type type, attributes_.ParseType());
      side->emplace_back(name, std::move(type));
      EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
      if (side == &first) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  }
  first.insert(first.end(), second.begin(), second.end());
  return ParseRegion(operation.regions.emplace_back(), first);
}

// Parses a while after its name: (%a = %x, …) : types [attributes {…}] cond {…}
// do {…}.
Status OperationParser::ParseWhile(Operation& operation, const Token& at,
                                   std::vector<Type>& results) {
  std::vector<std::pair<Token, Type>> arguments;
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  while (!lexer_.Accept(")")) {
    if (!arguments.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    const Token name = lexer_.Peek();
    if (!IsSigil(name, '%')) return lexer_.ExpectedError("an argument");
    lexer_.Next();
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(operation.operands.emplace_back(), ParseOperand());
    // The type of the loop-carried value is charged to the limit again, as each
    // region of the loop has a copy.
    const Type& type = TypeOf(operation.operands.back());
    EMBER_RETURN_IF_ERROR(attributes_.CheckNamed(ExtentOf(type)));
    arguments.emplace_back(name, type);
  }
  if (lexer_.Accept(":")) {
    do {
      EMBER_ASSIGN_OR_RETURN(results.emplace_back(), attributes_.ParseType());
    } while (lexer_.Accept(","));
  }
  EMBER_RETURN_IF_ERROR(CheckOperands(operation, results, at));
  if (lexer_.Accept("attributes"))
    EMBER_RETURN_IF_ERROR(ParseMoreAttributes(operation));
  EMBER_RETURN_IF_ERROR(attributes_.SkipLocation());
  operation.regions.resize(2);
  EMBER_RETURN_IF_ERROR(lexer_.Expect("cond"));
  EMBER_RETURN_IF_ERROR(ParseRegion(operation.regions[0], arguments));
  EMBER_RETURN_IF_ERROR(lexer_.Expect("do"));
  return ParseRegion(operation.regions[1], arguments);
}

}  // namespace ember::stablehlo
