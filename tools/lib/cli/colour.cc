#include "tools/lib/cli/colour.h"

#include <unistd.h>

#include <cstdlib>

namespace ember::tools {

bool HasColours(std::FILE* file) {
  const char* const refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* const type = std::getenv("TERM");
  if (type == nullptr || std::string_view(type) == "dumb") return false;
  return isatty(fileno(file)) != 0;
}

std::string Coloured(std::string_view text, Colour colour, std::FILE* file) {
  if (!HasColours(file)) return std::string(text);
  const std::string_view begin =
      colour == Colour::kRed ? "\033[1;31m" : "\033[1m";
  return std::string(begin) + std::string(text) + "\033[0m";
}

}  // namespace ember::tools
