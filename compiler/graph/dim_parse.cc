// Implements ParseDim, by recursive descent.
#include <utility>

#include "base/lexer.h"
#include "compiler/graph/dim.h"

namespace ember::graph {
namespace {

constexpr int kMaxDepth = 64;

class DimParser {
 public:
  explicit DimParser(Lexer& lexer) : lexer_(lexer) {}

  StatusOr<Dim> ParseSum() {
    if (++depth_ > kMaxDepth)
      return InvalidArgumentError("a dim is nested too deeply");
    EMBER_ASSIGN_OR_RETURN(Dim sum, ParseProduct());
    while (true) {
      if (lexer_.Accept("+")) {
        EMBER_ASSIGN_OR_RETURN(const Dim next, ParseProduct());
        sum = sum + next;
      } else if (lexer_.Accept("-")) {
        EMBER_ASSIGN_OR_RETURN(const Dim next, ParseProduct());
        sum = sum - next;
      } else {
        --depth_;
        return sum;
      }
    }
  }

 private:
  StatusOr<Dim> ParseProduct() {
    EMBER_ASSIGN_OR_RETURN(Dim product, ParseFactor());
    while (true) {
      if (lexer_.Accept("*")) {
        EMBER_ASSIGN_OR_RETURN(const Dim next, ParseFactor());
        product = product * next;
      } else if (lexer_.Accept("/")) {
        EMBER_ASSIGN_OR_RETURN(const Dim next, ParseFactor());
        product = FloorDivide(product, next);
      } else if (lexer_.Accept("%")) {
        EMBER_ASSIGN_OR_RETURN(const Dim next, ParseFactor());
        product = Modulo(product, next);
      } else {
        return product;
      }
    }
  }

  StatusOr<Dim> ParseFactor() {
    if (++depth_ > kMaxDepth)
      return InvalidArgumentError("a dim is nested too deeply");
    StatusOr<Dim> factor = ParsePrimary();
    --depth_;
    return factor;
  }

  StatusOr<Dim> ParsePrimary() {
    if (lexer_.Accept("-")) {
      // The least 64-bit integer is parsed together with its sign:
      // -9223372036854775808 has no positive counterpart that fits in 64 bits.
      if (lexer_.Peek().kind == Token::kInteger) {
        EMBER_ASSIGN_OR_RETURN(const uint64_t value,
                               IntegerValue(lexer_.Peek()));
        if (value == uint64_t{1} << 63) {
          lexer_.Next();
          return Dim(INT64_MIN);
        }
      }
      EMBER_ASSIGN_OR_RETURN(const Dim operand, ParseFactor());
      return operand * Dim(-1);
    }
    if (lexer_.Accept("(")) {
      EMBER_ASSIGN_OR_RETURN(Dim inner, ParseSum());
      EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
      return inner;
    }
    if (lexer_.Peek().kind == Token::kInteger) {
      EMBER_ASSIGN_OR_RETURN(const int64_t value,
                             lexer_.ExpectInteger("a dim"));
      return Dim(value);
    }
    EMBER_ASSIGN_OR_RETURN(const Token name,
                           lexer_.Expect(Token::kIdentifier, "a dim"));
    if (lexer_.Peek().Is("(")) return ParseCall(name);
    return Dim::Symbol(name.text);
  }

  StatusOr<Dim> ParseCall(const Token& name) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    EMBER_ASSIGN_OR_RETURN(const Dim a, ParseSum());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    EMBER_ASSIGN_OR_RETURN(const Dim b, ParseSum());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    if (name.Is("floordiv")) return FloorDivide(a, b);
    if (name.Is("ceildiv")) return CeilDivide(a, b);
    if (name.Is("mod")) return Modulo(a, b);
    if (name.Is("min")) return Minimum(a, b);
    if (name.Is("max")) return Maximum(a, b);
    return ErrorAt(name,
                   "expected floordiv, ceildiv, mod, min or max, found '" +
                       std::string(name.text) + "'");
  }

  Lexer& lexer_;
  int depth_ = 0;
};

}  // namespace

StatusOr<Dim> ParseDim(Lexer& lexer) {
  StatusOr<Dim> dim = DimParser(lexer).ParseSum();
  if (dim.ok() && !dim->is_valid()) {
    return InvalidArgumentError("a dim overflows 64 bits or divides by 0");
  }
  return dim;
}

StatusOr<Dim> ParseDim(std::string_view text) {
  Lexer lexer(text);
  EMBER_ASSIGN_OR_RETURN(Dim dim, ParseDim(lexer));
  if (!lexer.AtEnd()) return lexer.ExpectedError("the end of the dim");
  return dim;
}

}  // namespace ember::graph
