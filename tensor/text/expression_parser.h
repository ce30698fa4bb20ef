// Reads one expression of the text form into a tree whose literals have no
// types yet, and makes nodes of the pool from the tree. Internal to the parser
// of the text form.
//
// There are two steps because the type of a literal comes from its context: in
// `0 < %x[i]` the 0 has the type of %x.
#ifndef EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_
#define EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_

#include <cstdint>
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
    kBits,         // a constant written as bits(0x...); `number` holds the bits
    kName,         // an axis or parameter, by its name
    kSigil,        // a let, accumulator or element, by its name such as %t0
    kLoad,         // a load; its operands are the indices
    kPad,          // a pad; its operands are the load and the default
    kInstruction,  // kInstruction: any other instruction; `type` is the target
                   // type of a cast
  };
  Kind kind = kNumber;
  Token token;
  bool negative = false;      // true if a minus sign is before a kNumber or
                              // kWord
  std::optional<DType> type;  // type written behind a literal, if there is one,
                              // as in 1:f16
  uint64_t number = 0;
  Opcode opcode = Opcode::kConstant;
  // True if an instruction is written as raw(...); see Draft::allows_raw.
  bool is_raw = false;
  // Number of elements of the vector if a load or pad is written as vec4(...),
  // else 0. Only texts of loop nests may contain it.
  uint32_t vector = 0;
  // True if the expression is written as wide(...). Only texts of loop nests
  // may contain it.
  bool is_wide = false;
  // For a pad of a loop nest: which bounds of each dim's index must be tested,
  // as indices in kTestNames. Empty if the text names no tests.
  std::vector<uint8_t> tests;
  std::vector<Expression> operands;
  int depth = 1;

  bool IsLiteral() const {
    return kind == kNumber || kind == kWord || kind == kBits;
  }
};

// Parses expressions. Parsers of other text forms derive from this class and
// override ParsePrimary (tensor/notation/statement_parser.h).
class ExpressionParser {
 public:
  explicit ExpressionParser(Lexer& lexer) : lexer_(lexer) {}
  virtual ~ExpressionParser() = default;

  // Parse reads a whole expression. ParseSum reads an expression without a
  // comparison at its top level, because in `i < N + 1` the '<' must not become
  // part of it.
  StatusOr<Expression> Parse() { return ParseInfix(0); }
  StatusOr<Expression> ParseSum();
  // Parses a list of index expressions in brackets: '[' expression ',' ... ']'.
  StatusOr<std::vector<Expression>> ParseIndices();

 protected:
  // Parses operations whose precedence (tensor/text/tables.h) is at least
  // `precedence`.
  StatusOr<Expression> ParseInfix(int precedence);
  // Parses an operand of infix operations, such as a literal, a call or an
  // expression in parentheses.
  virtual StatusOr<Expression> ParsePrimary();
  // Parses the operands of the instruction `name`, in parentheses.
  StatusOr<Expression> ParseCall(const Token& name);
  StatusOr<Expression> ParseBits(const Token& name);
  // Sets the expression's depth from those of its operands. Returns an error if
  // that depth, or the nesting of the parser's functions, is above the limit.
  Status CheckDepth(Expression& expression) const;
  // Returns an error if the parser's functions are nested too deeply, so that
  // the stack suffices.
  Status CheckNesting() const;

  Lexer& lexer_;
  int nesting_ = 0;

 private:
  StatusOr<Expression> ParseLiteral();
  Status ParseLiteralType(Expression& literal);
  StatusOr<Expression> ParseSigil();
  StatusOr<Expression> ParseRaw();
  StatusOr<Expression> ParseVector(uint32_t width);
  StatusOr<Expression> ParseWide();
  Status ParseTests(std::vector<uint8_t>& tests);
};

// Returns the index in kTestNames of the test that the token names; nullopt if
// it names none.
std::optional<uint8_t> FindTest(const Token& token);

// Maps the names that an expression may use to nodes.
struct NameScope {
  // nodes of the axes and parameters, by name
  std::map<std::string, NodeId, std::less<>> names;
  std::map<std::string, NodeId, std::less<>>
      sigils;  // nodes of lets, accumulators and elements, by name without '%'
  int scope = 0;  // scope in which new nodes are made in the pool; 0 for the
                  // header
};

// Makes the expression's node. A literal without a type gets the type
// `expected`; if that is nullopt, f32 if it is written as a float, else i64.
// The type of the result may differ from `expected`; ResolveAs checks it.
StatusOr<NodeId> Resolve(const Expression& expression,
                         std::optional<DType> expected, const NameScope& names,
                         Draft& draft);
// Makes the expression's node as Resolve does. It is an error if the node's
// type is not `type`.
StatusOr<NodeId> ResolveAs(const Expression& expression, DType type,
                           const NameScope& names, Draft& draft);

// Returns the number of the buffer with the name of a sigil token such as %x.
// It is an error if there is none.
StatusOr<uint32_t> FindBuffer(const Token& token, const Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_EXPRESSION_PARSER_H_
