// Reads one expression of the text form into a tree whose literals have no
// types yet, and makes nodes of the pool from the tree. Internal to the parser
// of the text form.
//
// There are two steps because the type of a literal comes from its context: in
// `0 < %x[i]` the 0 has the type of %x.
#ifndef EMBER_TENSOR_EXPRESSION_PARSER_H_
#define EMBER_TENSOR_EXPRESSION_PARSER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/draft.h"

namespace ember::tensor {

struct Expression {
  enum Kind : uint8_t {
    kNumber,
    kWord,         // inf, nan, true, false
    kBits,         // bits(0x...): `number` holds it
    kName,         // an axis or parameter
    kSigil,        // %t0: a let, an accumulator or an element
    kLoad,         // operands: indices
    kPad,          // operands: the load, the default
    kInstruction,  // any other instruction; `type` is the target of casts
  };
  Kind kind = kNumber;
  Token token;
  bool negative = false;      // kNumber, kWord
  std::optional<DType> type;  // a literal's written type
  uint64_t number = 0;
  Opcode opcode = Opcode::kConstant;
  // kInstruction: written as raw(...); see Draft::allows_raw
  bool is_raw = false;
  std::vector<Expression> operands;
  int depth = 1;

  bool IsLiteral() const {
    return kind == kNumber || kind == kWord || kind == kBits;
  }
};

class ExpressionParser {
 public:
  explicit ExpressionParser(Lexer& lexer) : lexer_(lexer) {}

  // A whole expression, or one without comparisons at the top (as in `i < N +
  // 1`).
  StatusOr<Expression> Parse() { return ParseInfix(0); }
  StatusOr<Expression> ParseSum();
  // '[' expressions ']'.
  StatusOr<std::vector<Expression>> ParseIndices();

 private:
  StatusOr<Expression> ParseInfix(int precedence);
  StatusOr<Expression> ParsePrimary();
  StatusOr<Expression> ParseLiteral();
  StatusOr<Expression> ParseBits(const Token& name);
  Status ParseLiteralType(Expression& literal);
  StatusOr<Expression> ParseSigil();
  StatusOr<Expression> ParseCall(const Token& name);
  StatusOr<Expression> ParseRaw();
  Status CheckDepth(Expression& expression) const;

  Lexer& lexer_;
  int nesting_ = 0;
};

// The meaning of names at the place of an expression.
struct NameScope {
  std::map<std::string, NodeId, std::less<>> names;  // axes and parameters
  std::map<std::string, NodeId, std::less<>>
      sigils;     // lets, accumulators, elements: without '%'
  int scope = 0;  // scope in the pool; 0 in the header
};

// Makes the expression's node. A literal gets the type `expected`, or i64, or
// f32 if it is written as a float. The result may be of another type than
// expected; see ResolveAs.
StatusOr<NodeId> Resolve(const Expression& expression,
                         std::optional<DType> expected, const NameScope& names,
                         Draft& draft);
// The same, and an error if the type is not `type`.
StatusOr<NodeId> ResolveAs(const Expression& expression, DType type,
                           const NameScope& names, Draft& draft);

// The number of the buffer that a sigil token names.
StatusOr<uint32_t> FindBuffer(const Token& token, const Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_EXPRESSION_PARSER_H_
