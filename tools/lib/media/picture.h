// A picture in memory: RGB, 8 bits for each channel, rows from the top.
//
//   EMBER_ASSIGN_OR_RETURN(Picture picture, Picture::Make(640, 480));
//   picture.at(3, 0)[0] = 255;   // red of the fourth pixel of the first row
//
// Thread-compatible.
#ifndef EMBER_TOOLS_LIB_MEDIA_PICTURE_H_
#define EMBER_TOOLS_LIB_MEDIA_PICTURE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace ember::tools {

using Rgb = std::array<uint8_t, 3>;

struct Picture {
  // The largest number of pixels of a picture. A file with more is refused
  // before memory for its pixels is allocated.
  static constexpr int64_t kMaxPixels = int64_t{1} << 26;

  int width = 0, height = 0;
  std::vector<uint8_t> pixels;  // RGB values of all pixels: width * height * 3
                                // bytes

  // Returns an error if an extent is below 1, or if there would be more than
  // kMaxPixels.
  static Status CheckExtents(int64_t width, int64_t height);
  // Makes a black picture. Error: CheckExtents refuses its extents.
  static StatusOr<Picture> Make(int64_t width, int64_t height);

  uint8_t* at(int x, int y) { return pixels.data() + Offset(x, y); }
  const uint8_t* at(int x, int y) const { return pixels.data() + Offset(x, y); }
  // Returns the picture's size as text, such as "640x480".
  std::string SizeText() const;

 private:
  size_t Offset(int x, int y) const {
    return (static_cast<size_t>(y) * static_cast<size_t>(width) +
            static_cast<size_t>(x)) *
           3;
  }
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_PICTURE_H_
