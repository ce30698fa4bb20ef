#include <webp/decode.h>

#include <vector>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {

StatusOr<Picture> DecodeWebp(std::span<const uint8_t> bytes,
                             const DecodeOptions& options) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK)
    return DataLossError("expected the header of a WebP");
  if (features.has_animation != 0) {
    return InvalidArgumentError(
        "expected a WebP with one picture, found an animation");
  }
  EMBER_ASSIGN_OR_RETURN(Picture picture,
                         NewPicture(features.width, features.height, options));
  const auto width = static_cast<size_t>(picture.width);
  const auto count = width * static_cast<size_t>(picture.height);
  if (features.has_alpha == 0) {
    if (WebPDecodeRGBInto(bytes.data(), bytes.size(), picture.pixels.data(),
                          picture.pixels.size(),
                          static_cast<int>(width * 3)) == nullptr)
      return DataLossError("expected the pixels of a WebP");
    return picture;
  }
  std::vector<uint8_t> rgba(count * 4);
  if (WebPDecodeRGBAInto(bytes.data(), bytes.size(), rgba.data(), rgba.size(),
                         static_cast<int>(width * 4)) == nullptr)
    return DataLossError("expected the pixels of a WebP");
  for (size_t i = 0; i < count; ++i)
    StorePixel(&rgba[4 * i], options.on_white, &picture.pixels[3 * i]);
  return picture;
}

}  // namespace ember::tools::internal
