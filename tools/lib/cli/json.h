// Writes the little JSON that the tools need.
//
//   JsonString("a\"b") == "\"a\\\"b\""
#ifndef EMBER_TOOLS_LIB_CLI_JSON_H_
#define EMBER_TOOLS_LIB_CLI_JSON_H_

#include <string>
#include <string_view>

namespace ember::tools {

// Quotes and escapes a text. Bytes that are not ASCII stay as they are, so
// UTF-8 stays UTF-8.
std::string JsonString(std::string_view text);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_JSON_H_
