// The parts of text forms with expressions in them that dispatches and loop
// nests share: the header, buffers, elements that are stored to. Internal to
// the parsers.
//
// All take their tokens from `lexer`, look names up in a NameScope and add
// nodes to the draft's pool. Errors name the line and column.
#ifndef EMBER_TENSOR_TEXT_DECLARATION_PARSER_H_
#define EMBER_TENSOR_TEXT_DECLARATION_PARSER_H_

#include <map>
#include <string>
#include <string_view>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/builder/draft.h"
#include "tensor/text/expression_parser.h"

namespace ember::tensor {

// Adds a name; an error if it exists already.
Status DefineName(std::map<std::string, NodeId, std::less<>>& names,
                  const Token& token, std::string_view name, NodeId node);

// Parses a header such as "<N, M, %h0 = N * M>", or nothing: the draft's
// parameters and named values.
Status ParseHeader(Lexer& lexer, NameScope& header, Draft& draft);

StatusOr<DType> ParseType(Lexer& lexer);

// Parses the %name of a new buffer.
StatusOr<Token> ParseNewBuffer(Lexer& lexer, const Draft& draft);
// Parses a type with extents, such as "f32[N, 64]", and adds the buffer to the
// draft.
Status ParseTypeAndExtents(Lexer& lexer, const Token& name, BufferKind kind,
                           const NameScope& header, Draft& draft);

// An axis such as "i < N", for a new variable, which the caller defines.
struct ParsedAxis {
  Token name;
  NodeId extent = 0;
};
StatusOr<ParsedAxis> ParseAxis(Lexer& lexer, std::string_view what,
                               const NameScope& names, Draft& draft);

// Parses the target of a store, such as "%y[i, j]", with as many indices as the
// buffer has dims.
StatusOr<DraftStore> ParseStore(Lexer& lexer, const NameScope& names,
                                Draft& draft);
// Parses an update sign: "=", "+=" and so on.
StatusOr<Update> ParseUpdate(Lexer& lexer);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_DECLARATION_PARSER_H_
