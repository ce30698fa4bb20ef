// Colours for terminals.
//
//   std::fprintf(stderr, "%s\n", Coloured("error", Colour::kRed, stderr).c_str());
//
// The text stays plain if the file is no terminal, if the terminal's type is
// "dumb", or if the environment variable NO_COLOR is set and not empty.
// Thread-safe.
//
// Source: no-color.org; ECMA-48, 8.3.117.
#ifndef EMBER_TOOLS_LIB_CLI_COLOUR_H_
#define EMBER_TOOLS_LIB_CLI_COLOUR_H_

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace ember::tools {

enum class Colour : uint8_t { kRed, kBold };

bool HasColours(std::FILE* file);

// Returns the text in this colour if HasColours(file), otherwise the plain
// text.
std::string Coloured(std::string_view text, Colour colour, std::FILE* file);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_COLOUR_H_
