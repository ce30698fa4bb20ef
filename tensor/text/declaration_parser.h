// Parses the parts that the text forms of dispatches and of loop nests share:
// the header, declarations of buffers and axes, and targets of stores. Internal
// to these parsers. All functions take their tokens from `lexer`, look names up
// in a NameScope and add nodes to the draft's pool. Errors name the line and
// column.
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

// Adds a name with its node to `names`. It is an error if the name exists
// already.
Status DefineName(std::map<std::string, NodeId, std::less<>>& names,
                  const Token& token, std::string_view name, NodeId node);

// Parses a header such as "<N, M, %h0 = N * M>" and adds its parameters and
// named values to the draft. The header may be missing.
Status ParseHeader(Lexer& lexer, NameScope& header, Draft& draft);

StatusOr<DType> ParseType(Lexer& lexer);

// Parses the %name of a new buffer. It is an error if a buffer has this name
// already.
StatusOr<Token> ParseNewBuffer(Lexer& lexer, const Draft& draft);
// Parses extents, such as "[N, 64]", to i64 nodes of the draft.
StatusOr<std::vector<NodeId>> ParseExtents(Lexer& lexer,
                                           const NameScope& header,
                                           Draft& draft);
// Parses a type with extents, such as "f32[N, 64]", and adds the buffer to the
// draft.
Status ParseTypeAndExtents(Lexer& lexer, const Token& name, BufferKind kind,
                           const NameScope& header, Draft& draft);

// A parsed axis such as "i < N". The caller defines the variable i.
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
// Parses the sign of a store or update: "=", "+=" and so on.
StatusOr<Update> ParseUpdate(Lexer& lexer);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_DECLARATION_PARSER_H_
