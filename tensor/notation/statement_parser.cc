#include "tensor/notation/statement_parser.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/concat.h"
#include "tensor/text/declaration_parser.h"
#include "tensor/text/tables.h"

namespace ember::tensor {
namespace {

constexpr size_t kMaxAxes = 64;  // largest number of axes of a statement

// True if the word is a literal instead of a name.
bool IsWord(const Token& token) {
  return token.Is("inf") || token.Is("nan") || token.Is("true") ||
         token.Is("false");
}

std::string Quoted(const Token& token) {
  return Concat({"'", token.text, "'"});
}

std::optional<Combiner> FindCombiner(const Token& token) {
  for (int i = 1; i < static_cast<int>(Combiner::kFold); ++i) {
    if (token.Is(kCombinerNames[i])) return static_cast<Combiner>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<size_t> NotationStatement::FindAxis(std::string_view name) const {
  const auto found = std::ranges::find(axes, name, &NotationAxis::name);
  if (found == axes.end()) return std::nullopt;
  return static_cast<size_t>(found - axes.begin());
}

size_t ReductionOf(const Expression& sigil) {
  const std::string_view digits = sigil.token.name();
  size_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string_view StatementParser::Keep(std::string text) {
  return texts_.emplace_back(std::move(text));
}

const DraftBuffer* StatementParser::FindTensor(std::string_view name) const {
  const auto found =
      std::ranges::find(draft_.buffers, name, &DraftBuffer::name);
  return found == draft_.buffers.end() ? nullptr : &*found;
}

StatusOr<NotationStatement> StatementParser::ParseStatement(
    const Token& target) {
  statement_ = {};
  statement_.target = target;
  scope_.clear();
  part_ = Part::kLeft;
  const DraftBuffer* const old = FindTensor(target.text);
  statement_.is_new = old == nullptr;
  if (!lexer_.Peek().Is("[")) {
    return lexer_.ExpectedError(
        Concat({"'[' or ':' behind '", target.text, "' (a scalar is written ",
                target.text, "[])"}));
  }
  EMBER_RETURN_IF_ERROR(old == nullptr ? ParseNewIndices()
                                       : ParseOldIndices(*old));
  statement_.spatial_count = statement_.axes.size();
  const Token sign = lexer_.Peek();
  EMBER_ASSIGN_OR_RETURN(statement_.update, ParseUpdate(lexer_));
  if (old == nullptr && statement_.update != Update::kAssign) {
    return ErrorAt(
        sign, Concat({"expected '=', because ", target.text,
                      " has no values to update yet, found ", Quoted(sign)}));
  }
  part_ = Part::kRight;
  EMBER_ASSIGN_OR_RETURN(statement_.value, Parse());
  return std::move(statement_);
}

// --- axes ---

StatusOr<size_t> StatementParser::DeclareAxis(const Token& token) {
  if (IsWord(token) || header_.names.contains(token.text)) {
    return ErrorAt(token,
                   Concat({"expected an axis, found the ",
                           IsWord(token) ? "number " : "dim ", Quoted(token)}));
  }
  if (std::ranges::find(scope_, token.text, [](const auto& entry) {
        return std::string_view(entry.first);
      }) != scope_.end()) {
    return ErrorAt(token, Concat({"expected a new axis, found ", Quoted(token),
                                  " again"}));
  }
  if (statement_.axes.size() >= kMaxAxes) {
    return ErrorAt(
        token, Concat({"expected at most ", kMaxAxes, " axes in a statement"}));
  }
  std::string name(token.text);
  for (int i = 1; statement_.FindAxis(name) || header_.names.contains(name);
       ++i)
    name = Concat({token.text, ".", i});
  const size_t axis = statement_.axes.size();
  statement_.axes.push_back({std::move(name), token, {}});
  scope_.emplace_back(token.text, axis);
  return axis;
}

// Parses the optional extent of an axis, such as "< 8".
Status StatementParser::ParseExtent(size_t axis) {
  if (!lexer_.Accept("<")) return OkStatus();
  const Part part = std::exchange(part_, Part::kExtent);
  EMBER_ASSIGN_OR_RETURN(statement_.axes[axis].extent, ParseSum());
  part_ = part;
  return OkStatus();
}

// Parses the indices of a tensor that the statement defines. Each must be a new
// axis.
Status StatementParser::ParseNewIndices() {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
  if (lexer_.Accept("]")) return OkStatus();
  while (true) {
    const Token token = lexer_.Peek();
    if (token.kind != Token::kIdentifier) {
      return lexer_.ExpectedError(Concat({"the name of an axis, because '",
                                          statement_.target.text, "' is new"}));
    }
    lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(const size_t axis, DeclareAxis(token));
    Expression index;
    index.kind = Expression::kName;
    index.token = token;
    statement_.indices.push_back(std::move(index));
    EMBER_RETURN_IF_ERROR(ParseExtent(axis));
    if (lexer_.Accept("]")) return OkStatus();
    if (!lexer_.Accept(",")) return lexer_.ExpectedError("',' or ']'");
  }
}

// Parses the indices of a tensor that an earlier statement defined, which this
// one updates. They are expressions; an axis is declared by its first use.
Status StatementParser::ParseOldIndices(const DraftBuffer& target) {
  if (target.kind == BufferKind::kInput) {
    return ErrorAt(
        statement_.target,
        Concat({"expected a new tensor or a result, found the input ",
                Quoted(statement_.target)}));
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
  while (!lexer_.Accept("]")) {
    if (!statement_.indices.empty() && !lexer_.Accept(","))
      return lexer_.ExpectedError("',' or ']'");
    EMBER_ASSIGN_OR_RETURN(Expression index, ParseSum());
    CastIndex(index);
    const std::optional<size_t> axis =
        index.kind == Expression::kName ? statement_.FindAxis(index.token.text)
                                        : std::nullopt;
    statement_.indices.push_back(std::move(index));
    if (axis) EMBER_RETURN_IF_ERROR(ParseExtent(*axis));
  }
  const size_t rank = target.extents.size();
  if (statement_.indices.size() == rank) return OkStatus();
  return ErrorAt(statement_.target,
                 Concat({"expected ", rank, " indices of ", target.name,
                         ", found ", statement_.indices.size()}));
}

// --- expressions ---

StatusOr<Expression> StatementParser::ParsePrimary() {
  EMBER_RETURN_IF_ERROR(CheckNesting());
  const Token token = lexer_.Peek();
  if (token.Is("-")) return ParseNegation();
  if (token.kind == Token::kSigil)
    return lexer_.ExpectedError("a name without a sign before it");
  if (token.kind != Token::kIdentifier || IsWord(token))
    return ExpressionParser::ParsePrimary();
  lexer_.Next();
  if (lexer_.Peek().Is("[")) return ParseLoad(token);
  if (!lexer_.Peek().Is("(")) return ParseName(token);
  if (const std::optional<Combiner> combiner = FindCombiner(token))
    return ParseReduction(token, *combiner);
  if (token.Is("pad")) return ParsePad(token);
  if (token.Is("bits")) return ParseBits(token);
  if (FindTensor(token.text) != nullptr) {
    return ErrorAt(token, Concat({"expected indices in brackets, as in ",
                                  token.text, "[...], found '('"}));
  }
  EMBER_RETURN_IF_ERROR(CheckOperands(token));
  return ParseCall(token);
}

// Parses an expression that begins with '-': a negative literal, or the
// negation of another expression.
StatusOr<Expression> StatementParser::ParseNegation() {
  Lexer ahead = lexer_;
  const Token minus = ahead.Next();
  const Token& next = ahead.Peek();
  if (next.kind == Token::kInteger || next.kind == Token::kFloat ||
      next.Is("inf")) {
    return ExpressionParser::ParsePrimary();
  }
  lexer_.Next();
  ++nesting_;
  EMBER_ASSIGN_OR_RETURN(Expression operand, ParsePrimary());
  --nesting_;
  Expression negation;
  negation.kind = Expression::kInstruction;
  negation.token = minus;
  negation.opcode = Opcode::kNegate;
  negation.operands.push_back(std::move(operand));
  EMBER_RETURN_IF_ERROR(CheckDepth(negation));
  return negation;
}

StatusOr<Expression> StatementParser::ParseName(const Token& token) {
  Expression name;
  name.kind = Expression::kName;
  name.token = token;
  if (header_.names.contains(token.text)) return name;
  if (part_ == Part::kExtent) {
    return ErrorAt(token, Concat({"expected a number or a dim of an input as "
                                  "the extent, found ",
                                  Quoted(token)}));
  }
  const auto found = std::find_if(
      scope_.rbegin(), scope_.rend(),
      [&](const auto& entry) { return entry.first == token.text; });
  if (found != scope_.rend()) {
    name.token.text = Keep(statement_.axes[found->second].name);
    return name;
  }
  if (FindTensor(token.text) != nullptr) {
    return ErrorAt(token,
                   Concat({"expected indices of ", token.text, ", as in ",
                           token.text, "[...], found none"}));
  }
  if (part_ == Part::kLeft) {
    EMBER_ASSIGN_OR_RETURN(const size_t axis, DeclareAxis(token));
    name.token.text = Keep(statement_.axes[axis].name);
    return name;
  }
  return ErrorAt(token, Concat({"expected an axis of ", statement_.target.text,
                                " or of a reduction, as in sum(", token.text,
                                "), found ", Quoted(token)}));
}

// Adds casts to i64 to the integers that an index loads, because indices are
// i64.
void StatementParser::CastIndex(Expression& index) const {
  if (index.kind == Expression::kInstruction) {
    if (index.type) return;
    for (Expression& operand : index.operands) CastIndex(operand);
    return;
  }
  const bool is_pad = index.kind == Expression::kPad;
  if (!is_pad && index.kind != Expression::kLoad) return;
  const Token& loaded = is_pad ? index.operands[0].token : index.token;
  const DType type = FindTensor(loaded.name())->type;
  if (!IsInteger(type) || type == DType::kI64) return;
  Expression cast;
  cast.kind = Expression::kInstruction;
  cast.token = loaded;
  cast.opcode = Opcode::kCast;
  cast.type = DType::kI64;
  cast.depth = index.depth + 1;
  cast.operands.push_back(std::move(index));
  index = std::move(cast);
}

StatusOr<Expression> StatementParser::ParseLoad(const Token& token) {
  const DraftBuffer* const tensor = FindTensor(token.text);
  if (tensor == nullptr) {
    return ErrorAt(
        token, Concat({"expected a tensor that is declared, as in ", token.text,
                       ": f32[4], or defined before, "
                       "found ",
                       Quoted(token)}));
  }
  if (part_ == Part::kExtent) {
    return ErrorAt(token, Concat({"expected a number or a dim of an input as "
                                  "the extent, found ",
                                  Quoted(token)}));
  }
  if (token.text == statement_.target.text) {
    return ErrorAt(
        token,
        Concat({"expected tensors of earlier statements, found ", token.text,
                " itself; write ", token.text, "[...] += ... to add to it"}));
  }
  Expression load;
  load.kind = Expression::kLoad;
  load.token = token;
  load.token.kind = Token::kSigil;
  load.token.text = Keep(Concat({"%", token.text}));
  EMBER_ASSIGN_OR_RETURN(load.operands, ParseIndices());
  if (load.operands.size() != tensor->extents.size()) {
    return ErrorAt(token,
                   Concat({"expected ", tensor->extents.size(), " indices of ",
                           token.text, ", found ", load.operands.size()}));
  }
  for (Expression& index : load.operands) CastIndex(index);
  EMBER_RETURN_IF_ERROR(CheckDepth(load));
  return load;
}

// Parses pad(x[...]) or pad(x[...], default).
StatusOr<Expression> StatementParser::ParsePad(const Token& token) {
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  const Token start = lexer_.Peek();
  EMBER_ASSIGN_OR_RETURN(Expression load, Parse());
  if (load.kind != Expression::kLoad) {
    return ErrorAt(start,
                   "expected an element of a tensor as the first operand of "
                   "pad, as in pad(x[i - 1])");
  }
  Expression otherwise;
  otherwise.kind = Expression::kNumber;
  otherwise.token = token;
  otherwise.token.kind = Token::kInteger;
  otherwise.token.text = "0";
  if (FindTensor(load.token.name())->type == DType::kBool) {
    otherwise.kind = Expression::kWord;
    otherwise.token.kind = Token::kIdentifier;
    otherwise.token.text = "false";
  }
  if (lexer_.Accept(",")) {
    EMBER_ASSIGN_OR_RETURN(otherwise, Parse());
  }
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  Expression pad;
  pad.kind = Expression::kPad;
  pad.token = token;
  pad.operands.push_back(std::move(load));
  pad.operands.push_back(std::move(otherwise));
  EMBER_RETURN_IF_ERROR(CheckDepth(pad));
  return pad;
}

// Returns an error for max(k) or min(k): the instructions need two operands,
// and the user probably means the reduction maximum(k).
Status StatementParser::CheckOperands(const Token& token) const {
  if (!token.Is("max") && !token.Is("min")) return OkStatus();
  Lexer ahead = lexer_;
  ahead.Next();
  const Token axis = ahead.Next();
  if (axis.kind != Token::kIdentifier || !ahead.Peek().Is(")"))
    return OkStatus();
  return ErrorAt(token, Concat({"expected two operands of ", token.text,
                                ", found one; the reduction is ", token.text,
                                "imum(", axis.text, ")"}));
}

// Parses a reduction, such as sum(k, l < 3), and the product behind it.
StatusOr<Expression> StatementParser::ParseReduction(const Token& token,
                                                     Combiner combiner) {
  if (part_ != Part::kRight) {
    return ErrorAt(
        token, Concat({"expected no reduction here, found ", Quoted(token)}));
  }
  NotationReduction reduction{combiner, token, {}, {}};
  const size_t outer = scope_.size();
  EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
  do {
    EMBER_ASSIGN_OR_RETURN(
        const Token name,
        lexer_.Expect(Token::kIdentifier,
                      Concat({"an axis of ", Quoted(token)})));
    EMBER_ASSIGN_OR_RETURN(const size_t axis, DeclareAxis(name));
    reduction.axes.push_back(axis);
    EMBER_RETURN_IF_ERROR(ParseExtent(axis));
  } while (lexer_.Accept(","));
  EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
  EMBER_ASSIGN_OR_RETURN(reduction.body, ParseInfix(kProductPrecedence));
  scope_.resize(outer);
  Expression result;
  result.kind = Expression::kSigil;
  result.token = token;
  result.token.kind = Token::kSigil;
  result.token.text = Keep(Concat({"%", statement_.reductions.size()}));
  // The expression refers to the reduction by its number only, so the depth of
  // the reduction's body does not count in the expression's depth.
  statement_.reductions.push_back(std::move(reduction));
  return result;
}

}  // namespace ember::tensor
