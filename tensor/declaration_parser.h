// The parts of text forms with expressions in them that dispatches and loop
// nests share: the header, buffers, elements that are stored to. Internal to
// the parsers.
//
// All take their tokens from `lexer`, look names up in a NameScope and add
// nodes to the draft's pool. Errors name the line and column.
#ifndef EMBER_TENSOR_DECLARATION_PARSER_H_
#define EMBER_TENSOR_DECLARATION_PARSER_H_

#include <map>
#include <string>
#include <string_view>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/draft.h"
#include "tensor/expression_parser.h"

namespace ember::tensor {

// Adds a name; an error if it exists already.
Status DefineName(std::map<std::string, NodeId, std::less<>>& names,
                  const Token& token, std::string_view name, NodeId node);

// Nothing, or "<N, M, %h0 = N * M>": the draft's parameters and named values.
Status ParseHeader(Lexer& lexer, NameScope& header, Draft& draft);

StatusOr<DType> ParseType(Lexer& lexer);

// The %name of a new buffer.
StatusOr<Token> ParseNewBuffer(Lexer& lexer, const Draft& draft);
// "f32[N, 64]": adds the buffer to the draft.
Status ParseTypeAndExtents(Lexer& lexer, const Token& name, BufferKind kind,
                           const NameScope& header, Draft& draft);

// "i < N", for a new variable, which the caller defines.
struct ParsedAxis {
  Token name;
  NodeId extent = 0;
};
StatusOr<ParsedAxis> ParseAxis(Lexer& lexer, std::string_view what,
                               const NameScope& names, Draft& draft);

// "%y[i, j]", with as many indices as the buffer has dims.
StatusOr<DraftStore> ParseStore(Lexer& lexer, const NameScope& names,
                                Draft& draft);
// "=", "+=" and so on.
StatusOr<Update> ParseUpdate(Lexer& lexer);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_DECLARATION_PARSER_H_
