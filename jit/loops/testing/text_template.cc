#include "jit/loops/testing/text_template.h"

#include <cstddef>

namespace ember::loops {

std::string Replaced(std::string text, const std::string& from,
                     const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string Replaced(
    std::string text,
    const std::vector<std::pair<std::string, std::string>>& all) {
  for (const auto& [from, to] : all) text = Replaced(std::move(text), from, to);
  return text;
}

}  // namespace ember::loops
