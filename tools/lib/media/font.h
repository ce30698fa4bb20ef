// A font of 5x7 points for printable ASCII.
#ifndef EMBER_TOOLS_LIB_MEDIA_FONT_H_
#define EMBER_TOOLS_LIB_MEDIA_FONT_H_

#include <array>
#include <cstdint>

namespace ember::tools {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7;

// The font's glyph of a character: its columns from left to right. Bit 0 of a
// column is the topmost point.
using Glyph = std::array<uint8_t, kGlyphWidth>;

// Returns the glyph of a character. A character that is not printable ASCII
// gets a filled box.
Glyph GlyphOf(char character);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_FONT_H_
