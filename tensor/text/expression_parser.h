// Reads one expression of the text form into a tree whose literals have no
// types yet, and makes nodes of the pool from the tree. Internal to the parser
// of the text form.
//
// There are two steps because the type of a literal comes from its context: in
// `0 < %x[i]` the 0 has the type of %x.
#ifndef EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_
#define EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/builder/draft.h"

namespace ember::tensor {

struct Expression {
  enum Kind : uint8_t {
    kNumber,
    kWord,         // one of the words inf, nan, true, false
    kBits,         // bits(0x...); `number` holds the bits
    kName,         // the name of an axis or parameter
    kSigil,        // a name such as %t0: a let, an accumulator or an element
    kLoad,         // a load; its operands are the indices
    kPad,          // a pad; its operands are the load and the default
    kInstruction,  // any other instruction; `type` is the target of casts
  };
  Kind kind = kNumber;
  Token token;
  bool negative = false;      // sign of a kNumber or kWord
  std::optional<DType> type;  // type that is written behind a literal
  uint64_t number = 0;
  Opcode opcode = Opcode::kConstant;
  // True for a kInstruction that is written as raw(...); see Draft::allows_raw.
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

  // Parse reads a whole expression. ParseSum reads one without comparisons at
  // the top (as N + 1 in `i < N + 1`).
  StatusOr<Expression> Parse() { return ParseInfix(0); }
  StatusOr<Expression> ParseSum();
  // Parses '[' expressions ']'.
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
  // nodes of axes and parameters
  std::map<std::string, NodeId, std::less<>> names;
  std::map<std::string, NodeId, std::less<>>
      sigils;  // nodes of lets, accumulators and elements, by name without '%'
  int scope = 0;  // scope of new nodes in the pool; 0 in the header
};

// Makes the expression's node. A literal gets the type `expected`, or i64, or
// f32 if it is written as a float. The result may be of another type than
// expected; see ResolveAs.
StatusOr<NodeId> Resolve(const Expression& expression,
                         std::optional<DType> expected, const NameScope& names,
                         Draft& draft);
// Makes the expression's node as Resolve does. It is an error if the node's
// type is not `type`.
StatusOr<NodeId> ResolveAs(const Expression& expression, DType type,
                           const NameScope& names, Draft& draft);

// Returns the number of the buffer that a sigil token names.
StatusOr<uint32_t> FindBuffer(const Token& token, const Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_
