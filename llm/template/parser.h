// Parses templates to syntax trees.
//
//   EMBER_ASSIGN_OR_RETURN(const Statements statements,
//                          ParseTemplate("{{ messages[0].content }}"));
//
// The subset of Jinja: if, for (with filter, else, recursive), set, macro,
// call, filter, with, break, continue, raw, generation; all expressions. No
// other template can be loaded: import, include, extends and block are errors.
// An unknown filter or test is an error only when it is applied, because
// templates may check first if an engine has it. Errors begin with "line N: ".
// Thread-safe.
#ifndef EMBER_LLM_TEMPLATE_PARSER_H_
#define EMBER_LLM_TEMPLATE_PARSER_H_

#include <string_view>

#include "base/status.h"
#include "llm/template/syntax.h"

namespace ember::llm {

StatusOr<Statements> ParseTemplate(std::string_view source);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_PARSER_H_
