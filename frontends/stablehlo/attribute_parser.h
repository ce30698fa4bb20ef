// Parses types and attributes of MLIR's text; parser.h builds operations on it.
//
//   AttributeParser parser("dense<[1, 2]> : tensor<2xi64>");
//   EMBER_ASSIGN_OR_RETURN(const Attribute attribute,
//                          parser.ParseAttribute());
//
// Errors are one line with line and column. Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_ATTRIBUTE_PARSER_H_
#define EMBER_FRONTENDS_STABLEHLO_ATTRIBUTE_PARSER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/stablehlo/lexer.h"
#include "frontends/stablehlo/module.h"

namespace ember::stablehlo {

class AttributeParser {
 public:
  explicit AttributeParser(std::string_view text) : lexer_(text) {}

  MlirLexer& lexer() { return lexer_; }

  StatusOr<Type> ParseType();
  // Parses one type, or a list of types in parentheses.
  StatusOr<std::vector<Type>> ParseTypes();
  StatusOr<Attribute> ParseAttribute();
  // Parses a list {name = attribute, …}, beginning at the opening bracket,
  // which is `open`: "{" or "<".
  StatusOr<AttributeList> ParseAttributes(std::string_view open = "{");
  // Parses an attribute of a pretty form: [0, 1], [DEFAULT, HIGHEST], [[0, 1]],
  // word, true, 3. Numbers have no type.
  StatusOr<Attribute> ParseLoose();
  // Parses [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], or raw and a list of names.
  StatusOr<Attribute> ParseConvolutionDims();
  StatusOr<int64_t> ParseInteger(std::string_view what);
  // Skips a location, loc(…), if it is the next text.
  Status SkipLocation();
  // Parses the definition of an alias: #name = attribute or !name = type.
  Status ParseAlias();
  // Parses a section of resources, {-# … #-}, into the module.
  Status ParseResources(Module& module);
  // Fails if the value of an alias nests too deeply, or if all expanded aliases
  // together are too large.
  Status CheckNamed(const Extent& extent);

 private:
  // A scope guard that counts a level of nested values while it exists.
  class Deeper {
   public:
    explicit Deeper(int& depth) : depth_(++depth) {}
    ~Deeper() { --depth_; }

   private:
    int& depth_;
  };

  Status CheckDepth() const;
  // Skips a bracket, its contents and its closing bracket, and returns their
  // text.
  StatusOr<std::string> TakeBracket();
  StatusOr<Type> ParseTensorType();
  StatusOr<std::string> ParseElementType();
  StatusOr<Attribute> ParseNumber();
  StatusOr<Attribute> ParseDense();
  StatusOr<Attribute> ParseDenseResource();
  StatusOr<Attribute> ParseArrayOf();
  StatusOr<Attribute> ParseDialectAttribute();
  StatusOr<Attribute> ParseStructEntries(std::string name);

  MlirLexer lexer_;
  int depth_ = 0;
  int64_t named_size_ = 0;  // Total size of all aliases after their expansion.
  std::map<std::string, Attribute, std::less<>> attribute_aliases_;
  std::map<std::string, Type, std::less<>> type_aliases_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_ATTRIBUTE_PARSER_H_
