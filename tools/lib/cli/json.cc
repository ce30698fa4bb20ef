#include "tools/lib/cli/json.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include "base/utf8.h"

namespace ember::tools {
namespace {

// Returns the number of bytes of the UTF-8 sequence at the begin of a text that
// is not empty; 0 if the text does not begin with a valid one.
size_t SequenceLength(std::string_view text) {
  constexpr size_t kLongest = 4;
  for (size_t length = 1; length <= std::min(kLongest, text.size()); ++length) {
    if (IsUtf8(text.substr(0, length))) return length;
  }
  return 0;
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const size_t length = SequenceLength(text);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof(escaped), "\\u%04x", c);
      result += escaped;
    } else if (length == 0) {
      result += "\\ufffd";
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result + "\"";
}

std::string ScriptJson(std::string_view json) {
  std::string result;
  result.reserve(json.size());
  // The first two of the three bytes of U+2028 and U+2029, which are line
  // breaks in JavaScript and so must not be in a script's string.
  constexpr std::string_view kSeparator = "\xe2\x80";
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    const bool is_separator = json.substr(i).starts_with(kSeparator) &&
                              i + 2 < json.size() &&
                              (json[i + 2] == '\xa8' || json[i + 2] == '\xa9');
    if (c == '<') {
      result += "\\u003c";
    } else if (c == '>') {
      result += "\\u003e";
    } else if (c == '&') {
      result += "\\u0026";
    } else if (is_separator) {
      result += json[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace ember::tools
