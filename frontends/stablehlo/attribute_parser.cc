#include "frontends/stablehlo/attribute_parser.h"

#include <memory>
#include <utility>

#include "base/one_line.h"
#include "frontends/stablehlo/elements.h"

namespace ember::stablehlo {
namespace {

// Largest number of items of one list. No operation has as many dims, and
// tensors are dense values, not lists.
constexpr size_t kMaxList = 1 << 16;

bool IsWord(const Token& token) { return token.kind == Token::kIdentifier; }

Attribute Of(Attribute::Kind kind, std::string text = "") {
  Attribute attribute;
  attribute.kind = kind;
  attribute.text = std::move(text);
  return attribute;
}

Attribute OfBool(bool value) {
  Attribute attribute = IntegerAttribute(value ? 1 : 0);
  attribute.kind = Attribute::Kind::kBool;
  attribute.type.element = "i1";
  return attribute;
}

// True for the dialects (stablehlo and its relatives) whose attributes have the
// same text form.
bool IsOurs(std::string_view dialect) {
  return dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo";
}

}  // namespace

Status AttributeParser::CheckDepth() const {
  if (depth_ <= kMaxDepth) return OkStatus();
  return ErrorAt(lexer_.Peek(), "expected at most " +
                                    std::to_string(kMaxDepth) +
                                    " values in each other, found more");
}

Status AttributeParser::CheckNamed(const Extent& extent) {
  named_size_ += extent.size;
  if (extent.depth + depth_ <= kMaxDepth && named_size_ <= kMaxNamedSize)
    return OkStatus();
  return ErrorAt(lexer_.Peek(), "expected aliases of at most " +
                                    std::to_string(kMaxDepth) +
                                    " values in each other and " +
                                    std::to_string(kMaxNamedSize) + " in all");
}

StatusOr<std::string> AttributeParser::TakeBracket() {
  EMBER_ASSIGN_OR_RETURN(const std::string_view text, lexer_.SkipBalanced());
  return std::string(text);
}

StatusOr<int64_t> AttributeParser::ParseInteger(std::string_view what) {
  const bool negative = lexer_.Accept("-");
  if (lexer_.Peek().kind != Token::kInteger) return lexer_.ExpectedError(what);
  return SignedValue(lexer_.Next(), negative);
}

Status AttributeParser::SkipLocation() {
  if (!lexer_.Peek().Is("loc")) return OkStatus();
  lexer_.Next();
  if (!lexer_.Peek().Is("(")) return lexer_.ExpectedError("'('");
  return lexer_.SkipBalanced().status();
}

Status AttributeParser::ParseAlias() {
  const Token name = lexer_.Next();
  EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
  if (name.text[0] == '!') {
    EMBER_ASSIGN_OR_RETURN(type_aliases_[std::string(name.name())],
                           ParseType());
    return OkStatus();
  }
  if (lexer_.Peek().Is("loc")) return SkipLocation();
  EMBER_ASSIGN_OR_RETURN(attribute_aliases_[std::string(name.name())],
                         ParseAttribute());
  return OkStatus();
}

StatusOr<AttributeList> AttributeParser::ParseAttributes(
    std::string_view open) {
  AttributeList attributes;
  const std::string_view close = open == "<" ? ">" : "}";
  EMBER_RETURN_IF_ERROR(lexer_.Expect(open));
  while (!lexer_.Accept(close)) {
    if (!attributes.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    if (attributes.size() == kMaxList)
      return lexer_.ExpectedError("fewer attributes");
    const Token name = lexer_.Peek();
    std::string key(name.text);
    if (name.kind == Token::kString) {
      EMBER_ASSIGN_OR_RETURN(key, MlirStringValue(name));
    } else if (!IsWord(name)) {
      return lexer_.ExpectedError("an attribute's name");
    }
    lexer_.Next();
    attributes.emplace_back(std::move(key), Attribute());
    if (!lexer_.Accept("=")) continue;
    EMBER_ASSIGN_OR_RETURN(attributes.back().value, ParseAttribute());
  }
  return attributes;
}

StatusOr<Attribute> AttributeParser::ParseNumber() {
  const bool negative = lexer_.Accept("-");
  const Token token = lexer_.Next();
  if (token.kind != Token::kInteger && token.kind != Token::kFloat)
    return ErrorAt(token, "expected a number, found '" +
                              OnOneLine(token.text.substr(0, 40)) + "'");
  Type type;
  type.kind = Type::Kind::kScalar;
  type.element = token.kind == Token::kInteger ? "i64" : "f64";
  if (lexer_.Accept(":")) {
    EMBER_ASSIGN_OR_RETURN(type, ParseType());
  }
  const auto dtype = DTypeOf(type.element);
  Attribute attribute;
  if (token.kind == Token::kFloat || (dtype && IsFloat(*dtype))) {
    attribute.kind = Attribute::Kind::kFloat;
    EMBER_ASSIGN_OR_RETURN(attribute.number,
                           FloatValue(token, negative, type.element));
  } else {
    attribute.kind = Attribute::Kind::kInteger;
    EMBER_ASSIGN_OR_RETURN(attribute.integer, SignedValue(token, negative));
  }
  attribute.type = std::move(type);
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseDense() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("dense"));
  if (!lexer_.Peek().Is("<")) return lexer_.ExpectedError("'<'");
  // The type, which is needed to read the values, comes after them. The parser
  // therefore skips the values, reads the type, and then returns to the values.
  MlirLexer values = lexer_;
  values.Next();
  EMBER_RETURN_IF_ERROR(lexer_.SkipBalanced().status());
  EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
  Attribute attribute;
  attribute.kind = Attribute::Kind::kElements;
  EMBER_ASSIGN_OR_RETURN(attribute.type, ParseType());
  if (!attribute.type.is_tensor())
    return ErrorAt(values.Peek(), "expected a tensor's type for these values");
  EMBER_ASSIGN_OR_RETURN(Elements elements,
                         stablehlo::ParseElements(values, attribute.type));
  EMBER_RETURN_IF_ERROR(values.Expect(">"));
  attribute.elements = std::make_shared<const Elements>(std::move(elements));
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseDenseResource() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("dense_resource"));
  EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
  Elements elements;
  const Token name = lexer_.Next();
  elements.resource = std::string(name.text);
  if (name.kind == Token::kString) {
    EMBER_ASSIGN_OR_RETURN(elements.resource, MlirStringValue(name));
  } else if (!IsWord(name)) {
    return ErrorAt(name, "expected a resource's name");
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
  Attribute attribute;
  attribute.kind = Attribute::Kind::kElements;
  EMBER_ASSIGN_OR_RETURN(attribute.type, ParseType());
  attribute.elements = std::make_shared<const Elements>(std::move(elements));
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseArrayOf() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("array"));
  EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
  Attribute attribute;
  attribute.kind = Attribute::Kind::kIntegers;
  EMBER_ASSIGN_OR_RETURN(attribute.type, ParseType());
  const auto dtype = DTypeOf(attribute.type.element);
  const bool floats = dtype && IsFloat(*dtype);
  if (floats) attribute.kind = Attribute::Kind::kNumbers;
  if (lexer_.Accept(":")) {
    do {
      if (attribute.integers.size() + attribute.numbers.size() == kMaxList)
        return lexer_.ExpectedError("a shorter array");
      if (lexer_.Peek().Is("true") || lexer_.Peek().Is("false")) {
        attribute.integers.push_back(lexer_.Next().Is("true") ? 1 : 0);
        continue;
      }
      const bool negative = lexer_.Accept("-");
      const Token token = lexer_.Next();
      if (token.kind != Token::kInteger && token.kind != Token::kFloat)
        return ErrorAt(token, "expected a number");
      if (floats) {
        EMBER_ASSIGN_OR_RETURN(
            attribute.numbers.emplace_back(),
            FloatValue(token, negative, attribute.type.element));
      } else {
        EMBER_ASSIGN_OR_RETURN(attribute.integers.emplace_back(),
                               SignedValue(token, negative));
      }
    } while (lexer_.Accept(","));
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseConvolutionDims() {
  Attribute dims = Of(Attribute::Kind::kStruct, "conv");
  if (lexer_.Accept("raw")) return ParseStructEntries("conv");
  struct Part {
    std::string_view first, second, spatial;
    char first_letter, second_letter;
    std::string_view separator;
  };
  static constexpr Part kParts[] = {
      {"input_batch_dimension", "input_feature_dimension",
       "input_spatial_dimensions", 'b', 'f', "x"},
      {"kernel_input_feature_dimension", "kernel_output_feature_dimension",
       "kernel_spatial_dimensions", 'i', 'o', "->"},
      {"output_batch_dimension", "output_feature_dimension",
       "output_spatial_dimensions", 'b', 'f', ""},
  };
  for (const Part& part : kParts) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    int64_t first = -1, second = -1, at = 0;
    // For each number of a spatial dim: the position in the list, for example 1
    // for dim 0 in [b, 0, 1, f].
    std::map<int64_t, int64_t> spatial;
    do {
      const Token token = lexer_.Peek();
      if (token.kind == Token::kInteger) {
        EMBER_ASSIGN_OR_RETURN(const int64_t number, ParseInteger("a dim"));
        if (!spatial.emplace(number, at).second)
          return ErrorAt(token, "expected each dim once");
      } else {
        const std::string_view text = lexer_.Next().text;
        int64_t* place =
            text == std::string_view(&part.first_letter, 1)    ? &first
            : text == std::string_view(&part.second_letter, 1) ? &second
                                                               : nullptr;
        // The letter '?', which means a dim without a role, is also an error
        // here.
        if (place == nullptr || *place >= 0)
          return ErrorAt(
              token, "expected a number, '" +
                         std::string(1, part.first_letter) + "' or '" +
                         std::string(1, part.second_letter) + "', each once");
        *place = at;
      }
      ++at;
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
    std::vector<int64_t> places;
    for (const auto& [number, place] : spatial) {
      if (number != static_cast<int64_t>(places.size()))
        return lexer_.ExpectedError("spatial dims without a gap");
      places.push_back(place);
    }
    dims.entries.push_back({std::string(part.first), IntegerAttribute(first)});
    dims.entries.push_back(
        {std::string(part.second), IntegerAttribute(second)});
    dims.entries.push_back(
        {std::string(part.spatial), IntegersAttribute(std::move(places))});
    if (!part.separator.empty())
      EMBER_RETURN_IF_ERROR(lexer_.Expect(part.separator));
  }
  return dims;
}

// Parses the entries of a structure, name = value, …, up to '>', which stays
// the current token.
StatusOr<Attribute> AttributeParser::ParseStructEntries(std::string name) {
  Attribute attribute = Of(Attribute::Kind::kStruct, std::move(name));
  while (!lexer_.Peek().Is(">")) {
    if (!attribute.entries.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    const Token key = lexer_.Next();
    if (!IsWord(key)) return ErrorAt(key, "expected a name");
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    attribute.entries.emplace_back(std::string(key.text), Attribute());
    EMBER_ASSIGN_OR_RETURN(attribute.entries.back().value, ParseLoose());
  }
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseDialectAttribute() {
  const Token token = lexer_.Next();
  const auto alias = attribute_aliases_.find(token.name());
  if (alias != attribute_aliases_.end()) {
    EMBER_RETURN_IF_ERROR(CheckNamed(ExtentOf(alias->second)));
    return alias->second;
  }
  const size_t dot = token.name().find('.');
  const std::string_view dialect = token.name().substr(0, dot);
  const std::string name(
      dot == std::string_view::npos ? "" : token.name().substr(dot + 1));
  if (!lexer_.Peek().Is("<")) {
    if (dot == std::string_view::npos)
      return ErrorAt(token, "expected an alias that is defined before");
    return Of(Attribute::Kind::kOther, std::string(token.text));
  }
  if (IsOurs(dialect)) {
    // An attribute of an unusual form is kept as text.
    const MlirLexer begin = lexer_;
    lexer_.Next();
    if (name == "conv") {
      EMBER_ASSIGN_OR_RETURN(Attribute dims, ParseConvolutionDims());
      EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
      return dims;
    }
    if (name == "dot" || name == "gather" || name == "scatter") {
      EMBER_ASSIGN_OR_RETURN(Attribute dims, ParseStructEntries(name));
      EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
      return dims;
    }
    if (name.empty() && IsWord(lexer_.Peek())) {
      Token word = lexer_.Next();
      if (IsWord(lexer_.Peek())) word = lexer_.Next();
      if (lexer_.Accept(">"))
        return Of(Attribute::Kind::kEnum, std::string(word.text));
    }
    lexer_ = begin;
  }
  EMBER_ASSIGN_OR_RETURN(const std::string parameters, TakeBracket());
  return Of(Attribute::Kind::kOther, std::string(token.text) + parameters);
}

StatusOr<Attribute> AttributeParser::ParseAttribute() {
  const Deeper deeper(depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  const Token token = lexer_.Peek();
  if (token.Is("-") || token.kind == Token::kInteger ||
      token.kind == Token::kFloat)
    return ParseNumber();
  if (token.kind == Token::kString) {
    lexer_.Next();
    Attribute attribute = Of(Attribute::Kind::kString);
    EMBER_ASSIGN_OR_RETURN(attribute.text, MlirStringValue(token));
    if (lexer_.Accept(":")) {
      EMBER_ASSIGN_OR_RETURN(attribute.type, ParseType());
    }
    return attribute;
  }
  if (token.kind == Token::kSigil && token.text[0] == '@') {
    lexer_.Next();
    Attribute attribute =
        Of(Attribute::Kind::kSymbol, std::string(token.name()));
    if (token.name().starts_with('"')) {
      Token quoted = token;
      quoted.text = token.name();
      EMBER_ASSIGN_OR_RETURN(attribute.text, MlirStringValue(quoted));
    }
    while (lexer_.Accept("::"))
      attribute.text += "::" + std::string(lexer_.Next().text);
    return attribute;
  }
  if (token.kind == Token::kSigil && token.text[0] == '#')
    return ParseDialectAttribute();
  if (token.Is("{")) {
    Attribute attribute = Of(Attribute::Kind::kDictionary);
    EMBER_ASSIGN_OR_RETURN(attribute.entries, ParseAttributes());
    return attribute;
  }
  if (lexer_.Accept("[")) {
    Attribute attribute = Of(Attribute::Kind::kArray);
    while (!lexer_.Accept("]")) {
      if (!attribute.array.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      if (attribute.array.size() == kMaxList)
        return lexer_.ExpectedError("a shorter array");
      EMBER_ASSIGN_OR_RETURN(attribute.array.emplace_back(), ParseAttribute());
    }
    return attribute;
  }
  if (token.Is("true") || token.Is("false")) {
    lexer_.Next();
    return OfBool(token.Is("true"));
  }
  if (lexer_.Accept("unit")) return Attribute();
  if (token.Is("dense")) return ParseDense();
  if (token.Is("dense_resource")) return ParseDenseResource();
  if (token.Is("array")) return ParseArrayOf();
  if (token.Is("loc")) {
    EMBER_RETURN_IF_ERROR(SkipLocation());
    return Attribute();
  }
  if (token.Is("affine_map") || token.Is("sparse") || token.Is("distinct")) {
    lexer_.Next();
    if (!lexer_.Peek().Is("<")) return lexer_.ExpectedError("'<'");
    EMBER_ASSIGN_OR_RETURN(const std::string text, TakeBracket());
    return Of(Attribute::Kind::kOther, std::string(token.text) + text);
  }
  Attribute attribute = Of(Attribute::Kind::kType);
  EMBER_ASSIGN_OR_RETURN(attribute.type, ParseType());
  return attribute;
}

StatusOr<Attribute> AttributeParser::ParseLoose() {
  const Deeper deeper(depth_);
  EMBER_RETURN_IF_ERROR(CheckDepth());
  const Token token = lexer_.Peek();
  if (token.Is("true") || token.Is("false")) {
    lexer_.Next();
    return OfBool(token.Is("true"));
  }
  if (token.kind == Token::kInteger || token.Is("-")) {
    EMBER_ASSIGN_OR_RETURN(const int64_t value, ParseInteger("an integer"));
    return IntegerAttribute(value);
  }
  if (IsWord(token) && !token.Is("dense") && !token.Is("array")) {
    lexer_.Next();
    return Of(Attribute::Kind::kEnum, std::string(token.text));
  }
  if (lexer_.Accept("?")) return IntegerAttribute(kDynamic);
  if (token.kind == Token::kString) {
    lexer_.Next();
    Attribute attribute = Of(Attribute::Kind::kString);
    EMBER_ASSIGN_OR_RETURN(attribute.text, MlirStringValue(token));
    return attribute;
  }
  if (token.Is("<")) {
    EMBER_ASSIGN_OR_RETURN(const std::string text, TakeBracket());
    return Of(Attribute::Kind::kOther, text);
  }
  if (!lexer_.Accept("[")) return ParseAttribute();
  Attribute attribute = Of(Attribute::Kind::kArray);
  bool integers = true;
  while (!lexer_.Accept("]")) {
    if (!attribute.array.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    if (attribute.array.size() == kMaxList)
      return lexer_.ExpectedError("a shorter list");
    EMBER_ASSIGN_OR_RETURN(attribute.array.emplace_back(), ParseLoose());
    integers =
        integers && attribute.array.back().kind == Attribute::Kind::kInteger;
  }
  if (!integers) return attribute;
  std::vector<int64_t> values;
  for (const Attribute& part : attribute.array) values.push_back(part.integer);
  return IntegersAttribute(std::move(values));
}

// Parses the section of resources: {-# dialect_resources: { builtin: { name:
// "0x…" } }, … #-}.
Status AttributeParser::ParseResources(Module& module) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("{-#"));
  while (!lexer_.Accept("#-}")) {
    const Token section = lexer_.Next();
    if (!IsWord(section)) return ErrorAt(section, "expected a section's name");
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    if (section.text != "dialect_resources") {
      EMBER_RETURN_IF_ERROR(lexer_.SkipBalanced().status());
      lexer_.Accept(",");
      continue;
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) {
      lexer_.Next();  // The dialect.
      EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
      EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
      while (!lexer_.Accept("}")) {
        const Token name = lexer_.Next();
        std::string key(name.text);
        if (name.kind == Token::kString) {
          EMBER_ASSIGN_OR_RETURN(key, MlirStringValue(name));
        }
        EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
        const Token data = lexer_.Next();
        // The data of a resource begins with four bytes that state its
        // alignment.
        if (data.kind != Token::kString || data.text.size() < 12 ||
            !data.text.starts_with("\"0x") || data.text.back() != '"')
          return ErrorAt(data, "expected the bytes of a resource in hex");
        auto bytes = BytesOfHex(data.text.substr(11, data.text.size() - 12));
        if (!bytes.ok()) return ErrorAt(data, bytes.status().message());
        auto owner =
            std::make_shared<const std::vector<uint8_t>>(*std::move(bytes));
        Elements elements;
        elements.bytes = *owner;
        elements.owner = std::move(owner);
        module.resources[key] = std::move(elements);
        lexer_.Accept(",");
      }
      lexer_.Accept(",");
    }
    lexer_.Accept(",");
  }
  return OkStatus();
}

}  // namespace ember::stablehlo
