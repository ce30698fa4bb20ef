// Resizes and crops pictures.
//
//   EMBER_ASSIGN_OR_RETURN(Picture small,
//                          Resize(cat, 224, 224, Filter::kBilinear));
//
// The filters are the same as in Pillow and torchvision: if a picture is made
// smaller by a factor, the filter is made wider by it, so that every source
// pixel counts (anti-aliasing). Each of the two passes rounds to 8 bits.
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_RESIZE_H_
#define EMBER_TOOLS_LIB_MEDIA_RESIZE_H_

#include <cstdint>
#include <string_view>

#include "base/status.h"
#include "tools/lib/media/picture.h"

namespace ember::tools {

enum class Filter : uint8_t {
  kNearest,   // the source pixel nearest to the centre
  kBilinear,  // a triangle
  kBicubic,   // Keys' cubic convolution with a = -0.5
};

// Returns the name of the filter, such as "bilinear".
std::string_view FilterName(Filter filter);

// Resizes a picture. Error: Picture::Make refuses the new size.
StatusOr<Picture> Resize(const Picture& picture, int64_t width, int64_t height,
                         Filter filter);

// Returns the part of a picture that begins at (left, top), which may be
// negative. Pixels outside of the picture are black.
StatusOr<Picture> Crop(const Picture& picture, int64_t left, int64_t top,
                       int64_t width, int64_t height);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_RESIZE_H_
