#include "tools/lib/media/draw.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "tools/lib/media/font.h"

namespace ember::tools {
namespace {

// Returns the side in pixels of a point of the font, so that text is readable
// in a picture of this size.
int ScaleOf(const Picture& picture) {
  return std::clamp(std::min(picture.width, picture.height) / 200, 1, 8);
}

// Returns the number of bytes of the UTF-8 character that begins with this
// byte.
size_t Utf8Length(char byte) {
  const auto value = static_cast<uint8_t>(byte);
  return value < 0xc0 ? 1 : value < 0xe0 ? 2 : value < 0xf0 ? 3 : 4;
}

size_t CharacterCount(std::string_view text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size(); i += Utf8Length(text[i])) ++count;
  return count;
}

// Returns the colour of text on a background colour: black or white, whichever
// has more contrast.
Rgb TextColorOn(Rgb color) {
  const int light = 299 * color[0] + 587 * color[1] + 114 * color[2];
  return light > 140'000 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

// Rounds a coordinate to a pixel and clamps it to the picture.
int Pixel(double value, int limit) {
  return static_cast<int>(std::lround(std::clamp(value, 0.0, limit - 1.0)));
}

std::string ScoreText(double score) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%.2f", score);
  return buffer;
}

void DrawBox(const Detection& one, const std::string& label, Picture& picture) {
  const int scale = ScaleOf(picture), line = scale + 1;
  const Rgb color = ClassColor(one.number);
  const int left = Pixel(one.left, picture.width);
  const int right = Pixel(one.right, picture.width);
  const int top = Pixel(one.top, picture.height);
  const int bottom = Pixel(one.bottom, picture.height);
  const int width = right - left + 1, height = bottom - top + 1;
  FillRectangle(left, top, width, line, color, picture);
  FillRectangle(left, bottom - line + 1, width, line, color, picture);
  FillRectangle(left, top, line, height, color, picture);
  FillRectangle(right - line + 1, top, line, height, color, picture);
  // The label is drawn above the box if there is space, otherwise inside of it.
  const int text_height = (kGlyphHeight + 2) * scale;
  const int text_top = top >= text_height ? top - text_height : top;
  const int text_width = TextWidth(label, scale) + 2 * scale;
  const int text_left = std::max(0, std::min(left, picture.width - text_width));
  FillRectangle(text_left, text_top, text_width, text_height, color, picture);
  DrawText(label, text_left + scale, text_top + scale, scale,
           TextColorOn(color), picture);
}

}  // namespace

Rgb ClassColor(int64_t number) {
  // The hue of successive numbers advances by the golden ratio, so that
  // neighbouring numbers have very different colours.
  constexpr double kStep = 0.61803398875;
  const double hue =
      std::fmod(0.02 + static_cast<double>(number % 4096) * kStep, 1.0) * 6;
  Rgb color;
  for (int channel = 0; channel < 3; ++channel) {
    // Converts HSV to RGB, with saturation 0.85 and value 0.95.
    const double k = std::fmod(5 - 2 * channel + hue, 6.0);
    const double part = std::clamp(std::min(k, 4 - k), 0.0, 1.0);
    color[static_cast<size_t>(channel)] =
        static_cast<uint8_t>(std::lround(255 * 0.95 * (1 - 0.85 * part)));
  }
  return color;
}

void FillRectangle(int x, int y, int width, int height, Rgb color,
                   Picture& picture) {
  const int right = std::min(picture.width, x + width);
  const int bottom = std::min(picture.height, y + height);
  for (int row = std::max(0, y); row < bottom; ++row) {
    for (int column = std::max(0, x); column < right; ++column)
      std::ranges::copy(color, picture.at(column, row));
  }
}

void DrawText(std::string_view text, int x, int y, int scale, Rgb color,
              Picture& picture) {
  for (size_t i = 0; i < text.size(); i += Utf8Length(text[i])) {
    const Glyph glyph = GlyphOf(text[i]);
    for (int column = 0; column < kGlyphWidth; ++column) {
      for (int row = 0; row < kGlyphHeight; ++row) {
        if ((glyph[static_cast<size_t>(column)] >> row & 1) == 0) continue;
        FillRectangle(x + column * scale, y + row * scale, scale, scale, color,
                      picture);
      }
    }
    x += (kGlyphWidth + 1) * scale;
    if (x >= picture.width) return;
  }
}

int TextWidth(std::string_view text, int scale) {
  constexpr size_t kMaxCharacters = 1000;
  const size_t count = std::min(CharacterCount(text), kMaxCharacters);
  return count == 0
             ? 0
             : static_cast<int>(count) * (kGlyphWidth + 1) * scale - scale;
}

std::vector<LegendEntry> DrawDetections(const Detections& detections,
                                        const Labels& labels,
                                        Picture& picture) {
  std::map<int64_t, int> counts;
  // Boxes are drawn in ascending order of score, so that the best ones are on
  // top.
  for (size_t i = detections.found.size(); i-- > 0;) {
    const Detection& one = detections.found[i];
    ++counts[one.number];
    DrawBox(one,
            labels.Name(one.number, detections.classes) + " " +
                ScoreText(one.score),
            picture);
  }
  std::vector<LegendEntry> legend;
  for (const auto& [number, count] : counts) {
    legend.push_back(
        {ClassColor(number), labels.Name(number, detections.classes) + ": " +
                                 std::to_string(count)});
  }
  return legend;
}

std::vector<LegendEntry> DrawClasses(std::span<const int32_t> numbers,
                                     int64_t classes, const Labels& labels,
                                     Picture& picture) {
  std::map<int32_t, int64_t> counts;
  for (const int32_t number : numbers) {
    if (number >= 0) ++counts[number];
  }
  const bool keeps_first = counts.size() > 1 || counts.contains(0);
  constexpr double kOpacity = 0.6;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || (numbers[i] == 0 && keeps_first)) continue;
    const Rgb color = ClassColor(numbers[i]);
    for (size_t channel = 0; channel < 3; ++channel) {
      uint8_t& value = picture.pixels[3 * i + channel];
      value = static_cast<uint8_t>(
          std::lround(kOpacity * color[channel] + (1 - kOpacity) * value));
    }
  }
  std::vector<std::pair<int64_t, int32_t>> sorted;
  for (const auto& [number, count] : counts) sorted.emplace_back(count, number);
  std::ranges::sort(sorted, std::greater<>());
  std::vector<LegendEntry> legend;
  for (const auto& [count, number] : sorted) {
    char share[32];
    std::snprintf(share, sizeof(share), ": %.1f %%",
                  100.0 * static_cast<double>(count) /
                      static_cast<double>(numbers.size()));
    const bool is_drawn = number != 0 || !keeps_first;
    legend.push_back({is_drawn ? ClassColor(number) : Rgb{255, 255, 255},
                      labels.Name(number, classes) + share});
  }
  return legend;
}

StatusOr<Picture> WithLegend(const Picture& picture,
                             std::span<const LegendEntry> legend) {
  constexpr size_t kMaxEntries = 12;
  const size_t shown = std::min(legend.size(), kMaxEntries);
  if (shown == 0) return picture;
  const int scale = ScaleOf(picture);
  const int row = (kGlyphHeight + 4) * scale;
  const int lines = static_cast<int>(shown) + (legend.size() > shown ? 1 : 0);
  EMBER_ASSIGN_OR_RETURN(
      Picture result,
      Picture::Make(picture.width, int64_t{picture.height} + lines * row +
                                       int64_t{4} * scale));
  FillRectangle(0, 0, result.width, result.height, {255, 255, 255}, result);
  std::ranges::copy(picture.pixels, result.pixels.begin());
  const Rgb black = {0, 0, 0};
  for (size_t i = 0; i < shown; ++i) {
    const int y = picture.height + 3 * scale + static_cast<int>(i) * row;
    FillRectangle(2 * scale, y, kGlyphHeight * scale, kGlyphHeight * scale,
                  black, result);
    FillRectangle(3 * scale, y + scale, (kGlyphHeight - 2) * scale,
                  (kGlyphHeight - 2) * scale, legend[i].color, result);
    DrawText(legend[i].text, (kGlyphHeight + 5) * scale, y, scale, black,
             result);
  }
  if (legend.size() > shown) {
    DrawText("and " + std::to_string(legend.size() - shown) + " more",
             (kGlyphHeight + 5) * scale,
             picture.height + 3 * scale + static_cast<int>(shown) * row, scale,
             black, result);
  }
  return result;
}

}  // namespace ember::tools
