#include "tools/lib/c_program/function_facts.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ember::tools {
namespace {

// The types of arrays in functions of jit/c, with the bytes of an element.
// size_t has at most 8 bytes.
constexpr std::pair<std::string_view, int64_t> kTypes[] = {
    {"uint8_t", 1},  {"int8_t", 1},  {"uint16_t", 2}, {"int16_t", 2},
    {"uint32_t", 4}, {"int32_t", 4}, {"uint64_t", 8}, {"int64_t", 8},
    {"float", 4},    {"double", 8},  {"size_t", 8},
};

// Calls visit(line) for each line, without its end.
template <typename Visit>
void ForEachLine(std::string_view text, Visit&& visit) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    visit(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Returns the number at the beginning of the text, or -1.
int64_t NumberAt(std::string_view text) {
  int64_t number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Returns the bytes of the array that the line declares: "  float v4[8];" or
// "  uint8_t v1[8] = {0};". Other lines declare none.
int64_t ArrayBytes(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  for (const auto& [type, bytes] : kTypes) {
    if (!line.starts_with(type) || line.substr(type.size(), 1) != " ") continue;
    const size_t open = line.find_first_of("[=;(", type.size());
    if (open == std::string_view::npos || line[open] != '[') return 0;
    const size_t close = line.find(']', open);
    if (close == std::string_view::npos) return 0;
    const std::string_view rest = line.substr(close + 1);
    if (rest != ";" && rest != " = {0};") return 0;
    return NumberAt(line.substr(open + 1)) * bytes;
  }
  return 0;
}

}  // namespace

std::vector<std::string> SplitFunctions(std::string_view functions) {
  // The heading of a function is the only line that begins with its type.
  constexpr std::string_view kHeading = "int32_t ember_";
  std::vector<std::string> texts;
  ForEachLine(functions, [&](std::string_view line) {
    if (line.starts_with(kHeading)) texts.emplace_back();
    if (texts.empty() || (line.empty() && texts.back().ends_with("}\n")))
      return;
    texts.back().append(line);
    texts.back().push_back('\n');
  });
  return texts;
}

FunctionFacts FactsOf(std::string_view function) {
  constexpr std::string_view kBuffer = "buffers[";
  FunctionFacts facts;
  facts.can_fail = function.find("ember_failed(") != std::string_view::npos;
  ForEachLine(function, [&](std::string_view line) {
    facts.array_bytes += ArrayBytes(line);
    const size_t at = line.find(kBuffer);
    if (at == std::string_view::npos) return;
    const int64_t number = NumberAt(line.substr(at + kBuffer.size()));
    if (number >= 0) facts.buffers.insert(static_cast<uint32_t>(number));
  });
  return facts;
}

}  // namespace ember::tools
