// Types and attributes of MLIR's text; what parser.h builds operations on.
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
  // (types) or one type.
  StatusOr<std::vector<Type>> ParseTypes();
  StatusOr<Attribute> ParseAttribute();
  // {name = attribute, …}, from the bracket on; `open` is "{" or "<".
  StatusOr<AttributeList> ParseAttributes(std::string_view open = "{");
  // As pretty forms have it: [0, 1], [DEFAULT, HIGHEST], [[0, 1]], word, true,
  // 3, without the type of a number.
  StatusOr<Attribute> ParseLoose();
  // [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], or raw and a list of names.
  StatusOr<Attribute> ParseConvolutionDims();
  StatusOr<int64_t> ParseInteger(std::string_view what);
  // loc(…), if it is there.
  Status SkipLocation();
  // #name = attribute or !name = type.
  Status ParseAlias();
  // {-# … #-}
  Status ParseResources(Module& module);
  // Fails where what a name stands for is too deep, or all of it too much.
  Status CheckNamed(const Extent& extent);

 private:
  // Counts how deep a value is in others.
  class Deeper {
   public:
    explicit Deeper(int& depth) : depth_(++depth) {}
    ~Deeper() { --depth_; }

   private:
    int& depth_;
  };

  Status CheckDepth() const;
  // The brackets that begin here, and what is in them.
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
  int64_t named_size_ = 0;  // of all that aliases stood for
  std::map<std::string, Attribute, std::less<>> attribute_aliases_;
  std::map<std::string, Type, std::less<>> type_aliases_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_ATTRIBUTE_PARSER_H_
