// Parses one statement of index notation into trees whose axes have no extents
// yet. Internal to the parser of the notation.
//
//   y[i] = exp(x[i]) / sum(k) exp(x[k])
//
// becomes the axes i and k, the reduction {sum, {k}, exp(x[k])}, and the value
// exp(x[i]) / %0, where %0 is the reduction's number.
#ifndef EMBER_TENSOR_NOTATION_STATEMENT_PARSER_H_
#define EMBER_TENSOR_NOTATION_STATEMENT_PARSER_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/builder/draft.h"
#include "tensor/dispatch.h"
#include "tensor/text/expression_parser.h"

namespace ember::tensor {

struct NotationAxis {
  // Unique in the statement. If two sums have an axis k, they are k and k.1.
  // Names in the statement's expressions are these.
  std::string name;
  Token token;
  // The expression in `i < N`, if it is written.
  std::optional<Expression> extent;
};

struct NotationReduction {
  Combiner combiner = Combiner::kSum;
  Token token;
  std::vector<size_t> axes;  // positions in NotationStatement::axes
  Expression body;
};

struct NotationStatement {
  Token target;
  // True if the statement defines the tensor. Its indices are then the first
  // axes, in order.
  bool is_new = false;
  std::vector<Expression> indices;
  Update update = Update::kAssign;
  Expression value;
  std::vector<NotationAxis> axes;  // axes of the left side, then of reductions
  size_t spatial_count = 0;        // number of axes of the left side
  // An inner reduction precedes those that contain it. An expression refers to
  // reduction number i by the sigil %i.
  std::vector<NotationReduction> reductions;

  // Returns the position of the axis, or nullopt.
  std::optional<size_t> FindAxis(std::string_view name) const;
};

// Returns the number of the reduction to which a kSigil expression refers. The
// parser replaces each reduction by such an expression.
size_t ReductionOf(const Expression& sigil);

class StatementParser final : public ExpressionParser {
 public:
  // draft: the tensors that exist so far. header: the names of dims. texts:
  // keeps the texts of tokens that this parser makes, and must outlive the
  // statements.
  StatementParser(Lexer& lexer, const Draft& draft, const NameScope& header,
                  std::deque<std::string>& texts)
      : ExpressionParser(lexer),
        draft_(draft),
        header_(header),
        texts_(texts) {}

  // Parses what follows the name of a statement's target.
  StatusOr<NotationStatement> ParseStatement(const Token& target);

 protected:
  StatusOr<Expression> ParsePrimary() override;

 private:
  // The part of the statement that is being parsed.
  enum class Part { kLeft, kRight, kExtent };

  const DraftBuffer* FindTensor(std::string_view name) const;
  StatusOr<size_t> DeclareAxis(const Token& token);
  Status ParseExtent(size_t axis);
  Status ParseNewIndices();
  Status ParseOldIndices(const DraftBuffer& target);
  StatusOr<Expression> ParseNegation();
  StatusOr<Expression> ParseName(const Token& token);
  StatusOr<Expression> ParseLoad(const Token& token);
  StatusOr<Expression> ParsePad(const Token& token);
  StatusOr<Expression> ParseReduction(const Token& token, Combiner combiner);
  Status CheckOperands(const Token& token) const;
  void CastIndex(Expression& index) const;
  std::string_view Keep(std::string text);

  const Draft& draft_;
  const NameScope& header_;
  std::deque<std::string>& texts_;
  NotationStatement statement_;
  Part part_ = Part::kLeft;
  // The axes that are visible, innermost last: name in the text, and position
  // in the statement.
  std::vector<std::pair<std::string, size_t>> scope_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_STATEMENT_PARSER_H_
