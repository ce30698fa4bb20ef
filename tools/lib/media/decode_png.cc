#include <png.h>

#include <cstring>
#include <string>
#include <vector>

#include "tools/lib/media/decoders.h"

namespace ember::tools {
namespace {

// Frees what libpng holds for an image.
class PngImage {
 public:
  PngImage() {
    std::memset(&image_, 0, sizeof(image_));
    image_.version = PNG_IMAGE_VERSION;
  }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image_); }
  png_image* get() { return &image_; }
  Status Error() const { return DataLossError(image_.message); }

 private:
  png_image image_;
};

}  // namespace

namespace internal {

StatusOr<Picture> DecodePng(std::span<const uint8_t> bytes,
                            const DecodeOptions& options) {
  PngImage holder;
  png_image* image = holder.get();
  if (png_image_begin_read_from_memory(image, bytes.data(), bytes.size()) == 0)
    return holder.Error();
  const bool has_opacity = (image->format & PNG_FORMAT_FLAG_ALPHA) != 0;
  image->format = has_opacity ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  EMBER_ASSIGN_OR_RETURN(Picture picture,
                         NewPicture(image->width, image->height, options));
  // StorePixel mixes transparent pixels with white. libpng would do so in
  // linear light, as neither the decoders of other formats nor most programs
  // do.
  std::vector<uint8_t> rgba(has_opacity ? PNG_IMAGE_SIZE(*image) : 0);
  uint8_t* const pixels = has_opacity ? rgba.data() : picture.pixels.data();
  if (png_image_finish_read(image, nullptr, pixels, 0, nullptr) == 0)
    return holder.Error();
  for (size_t i = 0; i < rgba.size() / 4; ++i)
    StorePixel(&rgba[4 * i], options.on_white, &picture.pixels[3 * i]);
  return picture;
}

}  // namespace internal

StatusOr<std::string> EncodePng(const Picture& picture) {
  PngImage holder;
  png_image* image = holder.get();
  image->width = static_cast<png_uint_32>(picture.width);
  image->height = static_cast<png_uint_32>(picture.height);
  image->format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  if (png_image_write_to_memory(image, nullptr, &size, 0, picture.pixels.data(),
                                0, nullptr) == 0)
    return holder.Error();
  std::string bytes(size, '\0');
  if (png_image_write_to_memory(image, bytes.data(), &size, 0,
                                picture.pixels.data(), 0, nullptr) == 0)
    return holder.Error();
  bytes.resize(size);
  return bytes;
}

}  // namespace ember::tools
