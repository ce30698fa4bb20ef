// Draws on pictures: boxes, classes of pixels, text, a legend.
//
//   DrawDetections(detections, labels, picture);
//   EMBER_ASSIGN_OR_RETURN(picture, WithLegend(picture, entries));
//
// Text has a font of 5x7 points for ASCII; other characters are boxes. All
// functions clip at the picture's edges. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_DRAW_H_
#define EMBER_TOOLS_LIB_MEDIA_DRAW_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/media/class_map.h"
#include "tools/lib/media/detections.h"
#include "tools/lib/media/labels.h"
#include "tools/lib/media/picture.h"

namespace ember::tools {

// Returns the colour of a class. Neighbouring class numbers have very different
// colours.
Rgb ClassColor(int64_t number);

// Draws text with its top left corner at (x, y). Each point of the font is a
// square of `scale` pixels. TextWidth returns the width in pixels; the height
// is 7 * scale.
void DrawText(std::string_view text, int x, int y, int scale, Rgb color,
              Picture& picture);
int TextWidth(std::string_view text, int scale);
// Fills the rectangle with its top left corner at (x, y).
void FillRectangle(int x, int y, int width, int height, Rgb color,
                   Picture& picture);

struct LegendEntry {
  Rgb color;
  std::string text;
};

// Draws each box with its label and score. Returns the legend: the names of the
// classes, each with its number of boxes.
std::vector<LegendEntry> DrawDetections(const Detections& detections,
                                        const Labels& labels, Picture& picture);
// Colours each pixel by its class. If there are several classes, class 0
// (usually the background) keeps the picture's colours. `numbers` has the class
// of each pixel, or -1. Returns the legend: the names of the classes with their
// shares of the picture, the largest first.
std::vector<LegendEntry> DrawClasses(std::span<const int32_t> numbers,
                                     int64_t classes, const Labels& labels,
                                     Picture& picture);

// Returns the picture with the legend below it. At most 12 entries are shown.
StatusOr<Picture> WithLegend(const Picture& picture,
                             std::span<const LegendEntry> legend);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_DRAW_H_
