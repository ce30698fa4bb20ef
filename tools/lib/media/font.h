// A font of 5x7 points for printable ASCII.
#ifndef EMBER_TOOLS_LIB_MEDIA_FONT_H_
#define EMBER_TOOLS_LIB_MEDIA_FONT_H_

#include <array>
#include <cstdint>

namespace ember::tools {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7;

// The columns of a character from the left. Bit 0 is the topmost point.
using Glyph = std::array<uint8_t, kGlyphWidth>;

// Returns the glyph of a character; a filled box if it is not printable ASCII.
Glyph GlyphOf(char character);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_FONT_H_
