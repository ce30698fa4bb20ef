// Writes JSON strings, and JSON that may be embedded in HTML.
//
//   JsonString("a\"b") == "\"a\\\"b\""
#ifndef EMBER_TOOLS_LIB_CLI_JSON_H_
#define EMBER_TOOLS_LIB_CLI_JSON_H_

#include <string>
#include <string_view>

namespace ember::tools {

// Quotes and escapes a text. UTF-8 stays as it is. A byte that is not UTF-8
// becomes U+FFFD, because JSON must be UTF-8 and names come from any model.
std::string JsonString(std::string_view text);

// Returns the given JSON text in a form that may be inside of an HTML page's
// script element: no string in it ends the element, begins a comment, or ends a
// line of JavaScript. The JSON must be valid.
std::string ScriptJson(std::string_view json);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_JSON_H_
