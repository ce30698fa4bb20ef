#include <bit>
#include <map>
#include <unordered_map>

#include "base/lexer.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/text/base64.h"
#include "compiler/graph/text/text.h"
#include "tensor/scalar.h"
#include "tensor/text/literal.h"

namespace ember::graph {
namespace {

struct Resources {
  std::unordered_map<std::string, ConstantData> constants;
  std::vector<std::string> strings;
  Metadata metadata;
};

// Largest depth of nested regions. It limits the parser's stack, because the
// text may be untrusted.
constexpr int kMaxRegionDepth = 64;

// Parses the resources (bytes of large constants and strings) that follow the
// graph's closing brace.
StatusOr<Resources> ParseResources(std::string_view text) {
  Lexer lexer(text);
  int depth = 0;
  // The loop skips the graph itself, up to its closing brace: resources are
  // parsed first, because the graph refers to them.
  do {
    if (lexer.AtEnd()) return lexer.ExpectedError("'}'");
    const Token token = lexer.Next();
    if (token.Is("{")) ++depth;
    if (token.Is("}")) --depth;
    if (token.Is("}") && depth < 0)
      return ErrorAt(token, "expected a graph, found '}'");
    if (token.Is("}") && depth == 0) break;
  } while (true);
  Resources resources;
  while (!lexer.AtEnd()) {
    if (lexer.Accept("text")) {
      EMBER_ASSIGN_OR_RETURN(const Token token,
                             lexer.Expect(Token::kString, "a string"));
      EMBER_ASSIGN_OR_RETURN(std::string text, StringValue(token));
      resources.strings.push_back(std::move(text));
      continue;
    }
    if (lexer.Accept("metadata")) {
      EMBER_ASSIGN_OR_RETURN(const Token token,
                             lexer.Expect(Token::kString, "a key"));
      EMBER_ASSIGN_OR_RETURN(std::string key, StringValue(token));
      EMBER_RETURN_IF_ERROR(lexer.Expect("="));
      EMBER_ASSIGN_OR_RETURN(const Token value,
                             lexer.Expect(Token::kString, "a value"));
      EMBER_ASSIGN_OR_RETURN(std::string text, StringValue(value));
      if (!resources.metadata.emplace(std::move(key), std::move(text)).second)
        return ErrorAt(token, "expected each key once, found it again");
      continue;
    }
    if (!lexer.Accept("dense"))
      return lexer.ExpectedError(
          "'text', 'metadata', 'dense' or the end of the text");
    EMBER_ASSIGN_OR_RETURN(const Token name_token,
                           lexer.Expect(Token::kString, "a name"));
    EMBER_ASSIGN_OR_RETURN(std::string name, StringValue(name_token));
    EMBER_RETURN_IF_ERROR(lexer.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const Token data,
                           lexer.Expect(Token::kString, "base64 data"));
    if (data.text.size() < 2) return ErrorAt(data, "expected base64 data");
    const auto bytes = DecodeBase64(data.text.substr(1, data.text.size() - 2));
    if (!bytes)
      return ErrorAt(data, "expected base64 data, found another text");
    if (!resources.constants
             .emplace(std::move(name), ConstantData::Copy(*bytes))
             .second) {
      return ErrorAt(name_token, "a second constant of this name");
    }
  }
  return resources;
}

class GraphParser {
 public:
  GraphParser(Lexer& lexer, const Resources& resources, int depth = 0)
      : lexer_(lexer), resources_(resources), depth_(depth) {}

  StatusOr<Graph> Parse() {
    EMBER_RETURN_IF_ERROR(ParseHead());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) EMBER_RETURN_IF_ERROR(ParseOperation());
    for (const Output& output : outputs_) {
      EMBER_ASSIGN_OR_RETURN(Value * value, FindValue(output.value));
      graph_.AddOutput(output.name, value, output.logical_type);
    }
    return std::move(graph_);
  }

 private:
  struct Output {
    std::string name;
    Token value;
    std::string logical_type;
  };
  struct Result {
    Token name;
    bool typed = false;
    TensorType type;
  };

  Status ParseHead() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("graph"));
    if (lexer_.Peek().kind == Token::kString) {
      EMBER_ASSIGN_OR_RETURN(std::string name, StringValue(lexer_.Next()));
      graph_ = Graph(std::move(name));
    } else {
      EMBER_ASSIGN_OR_RETURN(const Token name,
                             lexer_.ExpectSigil('@', "the graph's name"));
      graph_ = Graph(std::string(name.name()));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    while (!lexer_.Accept(")")) {
      EMBER_ASSIGN_OR_RETURN(const Output input, ParseNamedValue());
      EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
      EMBER_ASSIGN_OR_RETURN(TensorType type, ParseType());
      EMBER_ASSIGN_OR_RETURN(std::string logical, ParseLogicalType());
      StatusOr<Value*> value =
          graph_.AddInput(input.name, std::move(type), std::move(logical));
      if (!value.ok()) return ErrorAt(input.value, value.status().message());
      EMBER_RETURN_IF_ERROR(Define(input.value, *value));
      if (!lexer_.Peek().Is(")")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    while (!lexer_.Accept(")")) {
      EMBER_ASSIGN_OR_RETURN(Output output, ParseNamedValue());
      EMBER_ASSIGN_OR_RETURN(output.logical_type, ParseLogicalType());
      outputs_.push_back(std::move(output));
      if (!lexer_.Peek().Is(")")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return OkStatus();
  }

  StatusOr<std::string> ParseLogicalType() {
    if (!lexer_.Accept("as")) return std::string();
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.Expect(Token::kString, "a logical type"));
    return StringValue(token);
  }

  StatusOr<Output> ParseNamedValue() {
    Output output;
    const bool quoted = lexer_.Peek().kind == Token::kString;
    if (quoted) {
      EMBER_ASSIGN_OR_RETURN(output.name, StringValue(lexer_.Next()));
      EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    }
    EMBER_ASSIGN_OR_RETURN(output.value, lexer_.ExpectSigil('%', "a value"));
    if (!quoted) output.name = std::string(output.value.name());
    return output;
  }

  StatusOr<DType> ParseDType() {
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.Expect(Token::kIdentifier, "a dtype"));
    const auto dtype = DTypeFromName(token.text);
    if (!dtype)
      return ErrorAt(
          token, "expected a dtype, found '" + std::string(token.text) + "'");
    return *dtype;
  }

  StatusOr<Shape> ParseShape() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    Shape shape;
    while (!lexer_.Accept("]")) {
      EMBER_ASSIGN_OR_RETURN(Dim dim, ParseDim(lexer_));
      shape.push_back(std::move(dim));
      if (!lexer_.Peek().Is("]")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return shape;
  }

  StatusOr<TensorType> ParseType() {
    TensorType type;
    EMBER_ASSIGN_OR_RETURN(type.dtype, ParseDType());
    EMBER_ASSIGN_OR_RETURN(type.shape, ParseShape());
    return type;
  }

  Status Define(const Token& name, Value* value) {
    if (values_.emplace(name.name(), value).second) return OkStatus();
    return ErrorAt(name,
                   "a second value named '" + std::string(name.text) + "'");
  }

  StatusOr<Value*> FindValue(const Token& name) {
    const auto found = values_.find(name.name());
    if (found != values_.end()) return found->second;
    return ErrorAt(name, "expected a value that is defined, found '" +
                             std::string(name.text) + "'");
  }

  Status ParseOperation() {
    std::vector<Result> results;
    do {
      Result result;
      EMBER_ASSIGN_OR_RETURN(result.name,
                             lexer_.ExpectSigil('%', "a result or '}'"));
      result.typed = lexer_.Accept(":");
      if (result.typed) {
        EMBER_ASSIGN_OR_RETURN(result.type, ParseType());
      }
      results.push_back(std::move(result));
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const Token name,
                           lexer_.Expect(Token::kIdentifier, "an operator"));
    const OperatorRecord* record = FindOperator(name.text);
    if (record == nullptr) {
      return ErrorAt(
          name, "expected an operator, found '" + std::string(name.text) + "'");
    }
    EMBER_ASSIGN_OR_RETURN(std::vector<Value*> operands, ParseOperands());
    EMBER_ASSIGN_OR_RETURN(Attributes attributes,
                           ParseAttributes(*record, results[0]));
    std::vector<Graph> regions;
    for (const std::string_view region : record->regions) {
      EMBER_RETURN_IF_ERROR(lexer_.Expect(region));
      if (depth_ == kMaxRegionDepth)
        return lexer_.ExpectedError("regions that are less deep");
      EMBER_ASSIGN_OR_RETURN(
          Graph graph, GraphParser(lexer_, resources_, depth_ + 1).Parse());
      regions.push_back(std::move(graph));
    }
    std::string origin;
    if (lexer_.Accept("from")) {
      EMBER_ASSIGN_OR_RETURN(const Token token,
                             lexer_.Expect(Token::kString, "the origin"));
      EMBER_ASSIGN_OR_RETURN(origin, StringValue(token));
    }
    StatusOr<Operation*> operation =
        graph_.Add(*record, std::move(operands), std::move(attributes),
                   std::move(origin), nullptr, std::move(regions));
    if (!operation.ok()) return ErrorAt(name, operation.status().message());
    return DefineResults(**operation, results, name);
  }

  Status DefineResults(const Operation& operation,
                       const std::vector<Result>& results, const Token& where) {
    if (operation.results().size() != results.size()) {
      return ErrorAt(where,
                     "expected " + std::to_string(operation.results().size()) +
                         " results, found " + std::to_string(results.size()));
    }
    for (size_t i = 0; i < results.size(); ++i) {
      Value* value = operation.result(static_cast<int>(i));
      if (results[i].typed && results[i].type != value->type()) {
        return ErrorAt(results[i].name,
                       "expected type " + ToString(value->type()) + ", found " +
                           ToString(results[i].type));
      }
      value->set_name(std::string(results[i].name.name()));
      EMBER_RETURN_IF_ERROR(Define(results[i].name, value));
    }
    return OkStatus();
  }

  StatusOr<std::vector<Value*>> ParseOperands() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    std::vector<Value*> operands;
    while (!lexer_.Accept(")")) {
      EMBER_ASSIGN_OR_RETURN(const Token name,
                             lexer_.ExpectSigil('%', "an operand"));
      EMBER_ASSIGN_OR_RETURN(Value * operand, FindValue(name));
      operands.push_back(operand);
      if (!lexer_.Peek().Is(")")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return operands;
  }

  StatusOr<Attributes> ParseAttributes(const OperatorRecord& record,
                                       const Result& result) {
    Attributes attributes;
    if (record.name == "constant") {
      if (!result.typed)
        return ErrorAt(result.name, "expected the type of the constant");
      attributes.Set("dtype", result.type.dtype);
      attributes.Set("shape", result.type.shape);
    }
    if (!lexer_.Accept("{")) return attributes;
    while (!lexer_.Accept("}")) {
      EMBER_ASSIGN_OR_RETURN(const Token name,
                             lexer_.Expect(Token::kIdentifier, "an attribute"));
      const AttributeSpec* spec = nullptr;
      for (const AttributeSpec& candidate : record.attributes) {
        if (candidate.name == name.text) spec = &candidate;
      }
      if (spec == nullptr) {
        return ErrorAt(name, "expected an attribute of " +
                                 std::string(record.name) + ", found '" +
                                 std::string(name.text) + "'");
      }
      EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
      EMBER_ASSIGN_OR_RETURN(Attribute value,
                             ParseAttribute(spec->kind, result.type.dtype));
      attributes.Set(spec->name, std::move(value));
      if (!lexer_.Peek().Is("}")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return attributes;
  }

  StatusOr<Attribute> ParseAttribute(AttributeKind kind, DType dtype) {
    switch (kind) {
      case AttributeKind::kInteger: {
        EMBER_ASSIGN_OR_RETURN(const int64_t value,
                               lexer_.ExpectInteger("an integer"));
        return Attribute(value);
      }
      case AttributeKind::kFloat: {
        EMBER_ASSIGN_OR_RETURN(const uint64_t bits, ParseElement(DType::kF64));
        return Attribute(std::bit_cast<double>(bits));
      }
      case AttributeKind::kString: {
        EMBER_ASSIGN_OR_RETURN(const Token token,
                               lexer_.Expect(Token::kString, "a string"));
        EMBER_ASSIGN_OR_RETURN(std::string value, StringValue(token));
        return Attribute(std::move(value));
      }
      case AttributeKind::kDType: {
        EMBER_ASSIGN_OR_RETURN(const DType value, ParseDType());
        return Attribute(value);
      }
      case AttributeKind::kShape: {
        EMBER_ASSIGN_OR_RETURN(Shape value, ParseShape());
        return Attribute(std::move(value));
      }
      case AttributeKind::kIntegers:
        return ParseIntegers();
      case AttributeKind::kConstant:
        return ParseConstant(dtype);
    }
    return InternalError("an attribute of an unknown kind");
  }

  StatusOr<Attribute> ParseIntegers() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    std::vector<int64_t> values;
    while (!lexer_.Accept("]")) {
      EMBER_ASSIGN_OR_RETURN(const int64_t value,
                             lexer_.ExpectInteger("an integer"));
      values.push_back(value);
      if (!lexer_.Peek().Is("]")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return Attribute(std::move(values));
  }

  StatusOr<Attribute> ParseConstant(DType dtype) {
    if (lexer_.Accept("dense")) {
      EMBER_RETURN_IF_ERROR(lexer_.Expect("<"));
      EMBER_ASSIGN_OR_RETURN(const Token token,
                             lexer_.Expect(Token::kString, "a name"));
      EMBER_ASSIGN_OR_RETURN(const std::string name, StringValue(token));
      EMBER_RETURN_IF_ERROR(lexer_.Expect(">"));
      const auto found = resources_.constants.find(name);
      if (found == resources_.constants.end()) {
        return ErrorAt(token, "expected a line 'dense \"" + name +
                                  "\" = ...' after the graph, found none");
      }
      return Attribute(found->second);
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    const auto width = static_cast<size_t>(DTypeByteSize(dtype));
    std::vector<uint8_t> bytes;
    while (!lexer_.Accept("]")) {
      EMBER_ASSIGN_OR_RETURN(const uint64_t bits, ParseElement(dtype));
      bytes.resize(bytes.size() + width);
      tensor::StoreElement(bytes.data(),
                           static_cast<int64_t>(bytes.size() / width) - 1,
                           dtype, bits);
      if (!lexer_.Peek().Is("]")) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    }
    return Attribute(ConstantData::Copy(bytes));
  }

  StatusOr<uint64_t> ParseElement(DType dtype) {
    const bool negative = lexer_.Accept("-");
    const Token token = lexer_.Peek();
    if (token.kind == Token::kInteger || token.kind == Token::kFloat) {
      const auto bits = tensor::NumberBits(
          token.text, token.kind == Token::kFloat, negative, dtype);
      if (!bits)
        return lexer_.ExpectedError("a number of type " +
                                    std::string(DTypeName(dtype)));
      lexer_.Next();
      return *bits;
    }
    const auto infinity =
        IsFloat(dtype) ? tensor::InfinityBits(negative, dtype) : std::nullopt;
    if (infinity && lexer_.Accept("inf")) return *infinity;
    if (IsFloat(dtype) && !negative && lexer_.Accept("nan"))
      return tensor::NanBits(dtype);
    if (dtype == DType::kBool && !negative && lexer_.Accept("true")) return 1;
    if (dtype == DType::kBool && !negative && lexer_.Accept("false")) return 0;
    if (!negative && lexer_.Accept("bits")) return ParseBits(dtype);
    return lexer_.ExpectedError("an element of type " +
                                std::string(DTypeName(dtype)));
  }

  StatusOr<uint64_t> ParseBits(DType dtype) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.Expect(Token::kInteger, "bits"));
    EMBER_ASSIGN_OR_RETURN(const uint64_t bits, IntegerValue(token));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    const int width = 8 * DTypeByteSize(dtype);
    if (width < 64 && bits >> width != 0)
      return ErrorAt(token, "expected fewer bits");
    return bits;
  }

  Lexer& lexer_;
  const Resources& resources_;
  const int depth_;
  Graph graph_;
  std::unordered_map<std::string_view, Value*> values_;
  std::vector<Output> outputs_;
};

}  // namespace

StatusOr<Graph> Parse(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(Resources resources, ParseResources(text));
  Lexer lexer(text);
  EMBER_ASSIGN_OR_RETURN(Graph graph, GraphParser(lexer, resources).Parse());
  graph.set_strings(std::move(resources.strings));
  graph.set_metadata(std::move(resources.metadata));
  return graph;
}

}  // namespace ember::graph
