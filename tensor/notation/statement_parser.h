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
  // Name of the axis, which is unique in the statement: if two sums have an
  // axis k, their axes are named k and k.1. The statement's expressions use
  // these names.
  std::string name;
  Token token;
  // the expression N if the text says `i < N`; else nullopt
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
  // True if the statement defines a new tensor. Its indices are then the
  // statement's first axes, in order.
  bool is_new = false;
  std::vector<Expression> indices;
  Update update = Update::kAssign;
  Expression value;
  std::vector<NotationAxis> axes;  // axes of the left side, then of reductions
  size_t spatial_count = 0;        // number of axes of the left side
  // The reductions, innermost first. An expression refers to reduction number i
  // by the sigil %i.
  std::vector<NotationReduction> reductions;

  // Returns the position in `axes` of the axis with this name, or nullopt.
  std::optional<size_t> FindAxis(std::string_view name) const;
};

// Returns the number of the reduction to which a kSigil expression refers. The
// parser replaces each reduction by such an expression.
size_t ReductionOf(const Expression& sigil);

class StatementParser final : public ExpressionParser {
 public:
  // draft: has the tensors that are defined so far. header: the names of dims.
  // texts: gets the texts of tokens that the parser makes, and must outlive the
  // statements.
  StatementParser(Lexer& lexer, const Draft& draft, const NameScope& header,
                  std::deque<std::string>& texts)
      : ExpressionParser(lexer),
        draft_(draft),
        header_(header),
        texts_(texts) {}

  // Parses the rest of a statement, behind the name `target` of the tensor to
  // which it stores.
  StatusOr<NotationStatement> ParseStatement(const Token& target);

 protected:
  StatusOr<Expression> ParsePrimary() override;

 private:
  // The parts of a statement: the left side, the right side, and the extent
  // behind an axis. Some syntax is only allowed in one of them.
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
  // The axes that are visible at the current position, innermost last. An entry
  // has the axis's name in the text and its position in statement_.axes.
  std::vector<std::pair<std::string, size_t>> scope_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_STATEMENT_PARSER_H_
