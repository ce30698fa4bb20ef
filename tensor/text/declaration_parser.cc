#include "tensor/text/declaration_parser.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"

namespace ember::tensor {
namespace {

// Parses the definition of a named value in the header, such as "%name = sum".
Status ParseHeaderValue(Lexer& lexer, NameScope& header, Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const Token name, lexer.ExpectSigil('%', "a name"));
  EMBER_RETURN_IF_ERROR(lexer.Expect("="));
  EMBER_ASSIGN_OR_RETURN(const Expression value,
                         ExpressionParser(lexer).ParseSum());
  EMBER_ASSIGN_OR_RETURN(const NodeId node, Resolve(value, {}, header, draft));
  return DefineName(header.sigils, name, name.name(), node);
}

Status ParseParameter(Lexer& lexer, NameScope& header, Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const Token name,
                         lexer.Expect(Token::kIdentifier, "a parameter"));
  const NodeId node = draft.pool.Intern(Opcode::kParameter, DType::kI64, {},
                                        draft.parameters.size());
  EMBER_RETURN_IF_ERROR(DefineName(header.names, name, name.text, node));
  draft.parameters.emplace_back(name.text);
  return OkStatus();
}

}  // namespace

Status DefineName(std::map<std::string, NodeId, std::less<>>& names,
                  const Token& token, std::string_view name, NodeId node) {
  if (names.emplace(std::string(name), node).second) return OkStatus();
  return ErrorAt(
      token, Concat({"expected a new name, found '", token.text, "' again"}));
}

Status ParseHeader(Lexer& lexer, NameScope& header, Draft& draft) {
  if (!lexer.Accept("<")) return OkStatus();
  do {
    EMBER_RETURN_IF_ERROR(lexer.Peek().kind == Token::kSigil
                              ? ParseHeaderValue(lexer, header, draft)
                              : ParseParameter(lexer, header, draft));
  } while (lexer.Accept(","));
  return lexer.Expect(">");
}

StatusOr<DType> ParseType(Lexer& lexer) {
  const std::optional<DType> type = DTypeFromName(lexer.Peek().text);
  if (!type) return lexer.ExpectedError("an element type");
  lexer.Next();
  return *type;
}

StatusOr<Token> ParseNewBuffer(Lexer& lexer, const Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const Token name,
                         lexer.ExpectSigil('%', "a buffer (%name)"));
  if (!FindBuffer(name, draft).ok()) return name;
  return ErrorAt(
      name, Concat({"expected a new name, found '", name.text, "' again"}));
}

StatusOr<std::vector<NodeId>> ParseExtents(Lexer& lexer,
                                           const NameScope& header,
                                           Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<Expression> extents,
                         ExpressionParser(lexer).ParseIndices());
  std::vector<NodeId> nodes;
  for (const Expression& extent : extents) {
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           ResolveAs(extent, DType::kI64, header, draft));
    nodes.push_back(node);
  }
  return nodes;
}

Status ParseTypeAndExtents(Lexer& lexer, const Token& name, BufferKind kind,
                           const NameScope& header, Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const DType type, ParseType(lexer));
  DraftBuffer buffer{std::string(name.name()), type, kind, {}};
  EMBER_ASSIGN_OR_RETURN(buffer.extents, ParseExtents(lexer, header, draft));
  draft.buffers.push_back(std::move(buffer));
  return OkStatus();
}

StatusOr<ParsedAxis> ParseAxis(Lexer& lexer, std::string_view what,
                               const NameScope& names, Draft& draft) {
  ParsedAxis axis;
  EMBER_ASSIGN_OR_RETURN(axis.name, lexer.Expect(Token::kIdentifier, what));
  EMBER_RETURN_IF_ERROR(lexer.Expect("<"));
  EMBER_ASSIGN_OR_RETURN(const Expression extent,
                         ExpressionParser(lexer).ParseSum());
  EMBER_ASSIGN_OR_RETURN(axis.extent,
                         ResolveAs(extent, DType::kI64, names, draft));
  return axis;
}

StatusOr<DraftStore> ParseStore(Lexer& lexer, const NameScope& names,
                                Draft& draft) {
  EMBER_ASSIGN_OR_RETURN(const Token target,
                         lexer.ExpectSigil('%', "a buffer"));
  EMBER_ASSIGN_OR_RETURN(const uint32_t buffer, FindBuffer(target, draft));
  DraftStore store{buffer, {}, Update::kAssign};
  EMBER_ASSIGN_OR_RETURN(const std::vector<Expression> indices,
                         ExpressionParser(lexer).ParseIndices());
  const size_t rank = draft.buffers[buffer].extents.size();
  if (indices.size() != rank) {
    return ErrorAt(target, Concat({"expected ", rank, " indices for ",
                                   target.text, ", found ", indices.size()}));
  }
  for (const Expression& index : indices) {
    EMBER_ASSIGN_OR_RETURN(const NodeId node,
                           ResolveAs(index, DType::kI64, names, draft));
    store.indices.push_back(node);
  }
  return store;
}

StatusOr<Update> ParseUpdate(Lexer& lexer) {
  if (lexer.Accept("=")) return Update::kAssign;
  if (lexer.Accept("+=")) return Update::kAdd;
  if (lexer.Accept("*=")) return Update::kMultiply;
  Update update = Update::kMinimum;
  if (lexer.Accept("max")) {
    update = Update::kMaximum;
  } else if (!lexer.Accept("min")) {
    return lexer.ExpectedError("'=', '+=', '*=', 'min=' or 'max='");
  }
  EMBER_RETURN_IF_ERROR(lexer.Expect("="));
  return update;
}

}  // namespace ember::tensor
