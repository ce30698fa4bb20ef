// Splits the text of a template into tokens.
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<Token> tokens,
//                          LexTemplate("{% if a %}b{% endif %}"));
//
// White space around tags is removed as chat templates expect it (trim_blocks
// and lstrip_blocks): the line feed after a block or comment is removed, and so
// are spaces before one that begins its line. A "-" in a tag removes all white
// space on its side, a "+" keeps it. One line feed at the end of the template
// is dropped. Errors begin with "line N: ". Thread-safe. Source: the
// documentation of Jinja, "Whitespace Control".
#ifndef EMBER_LLM_TEMPLATE_LEXER_H_
#define EMBER_LLM_TEMPLATE_LEXER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::llm {

// largest size of a template in bytes
inline constexpr size_t kMaxTemplateBytes = size_t{1} << 20;

struct Token {
  enum class Kind : uint8_t {
    kText,           // text outside of tags, which is copied to the output
    kBlockBegin,     // {%
    kBlockEnd,       // %}
    kVariableBegin,  // {{
    kVariableEnd,    // }}
    kName,
    kString,
    kInteger,
    kFloat,
    kOperator,
    kEnd,
  };
  Kind kind = Kind::kEnd;
  int line = 1;
  std::string text;  // for a string: its value, without quotes and with escapes
                     // replaced
};

StatusOr<std::vector<Token>> LexTemplate(std::string_view source);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_LEXER_H_
