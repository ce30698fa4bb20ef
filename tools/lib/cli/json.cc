#include "tools/lib/cli/json.h"

#include <cstdio>

namespace ember::tools {

std::string JsonString(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace ember::tools
