#include "tools/lib/media/decode.h"

#include <png.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "tools/lib/cli/standard_streams.h"

namespace ember::tools {
namespace {

bool BeginsWith(std::span<const uint8_t> bytes, std::string_view text,
                size_t at = 0) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// Returns the name of a picture format that Ember cannot decode, such as "a
// GIF", for the error message; "" if the bytes have none of them.
std::string OtherFormat(std::span<const uint8_t> bytes) {
  if (BeginsWith(bytes, "GIF8")) return "a GIF";
  if (BeginsWith(bytes, "BM")) return "a BMP";
  if (BeginsWith(bytes, "RIFF") && BeginsWith(bytes, "WEBP", 8))
    return "a WebP";
  if (BeginsWith(bytes, "ftypheic", 4) || BeginsWith(bytes, "ftypmif1", 4))
    return "a HEIC";
  if (BeginsWith(bytes, "ftypavif", 4)) return "an AVIF";
  if (BeginsWith(bytes, std::string_view("II*\0", 4)) ||
      BeginsWith(bytes, std::string_view("MM\0*", 4)))
    return "a TIFF";
  if (bytes.empty()) return "an empty file";
  return "a file of another kind";
}

// Frees the memory of a libpng image.
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

StatusOr<Picture> DecodePng(std::span<const uint8_t> bytes) {
  PngImage holder;
  png_image* image = holder.get();
  if (png_image_begin_read_from_memory(image, bytes.data(), bytes.size()) == 0)
    return holder.Error();
  image->format = PNG_FORMAT_RGB;
  image->flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  EMBER_ASSIGN_OR_RETURN(Picture picture,
                         Picture::Make(image->width, image->height));
  const png_color white = {255, 255, 255};
  if (png_image_finish_read(image, &white, picture.pixels.data(), 0, nullptr) ==
      0)
    return holder.Error();
  return picture;
}

}  // namespace internal

bool HasPictureName(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return name.ends_with(".png") || name.ends_with(".jpg") ||
         name.ends_with(".jpeg");
}

bool IsPicture(std::span<const uint8_t> bytes) {
  return BeginsWith(bytes, "\x89PNG") || BeginsWith(bytes, "\xff\xd8\xff");
}

StatusOr<Picture> DecodePicture(std::span<const uint8_t> bytes,
                                std::string_view name) {
  std::optional<StatusOr<Picture>> picture;
  if (BeginsWith(bytes, "\x89PNG")) {
    picture = internal::DecodePng(bytes);
  } else if (BeginsWith(bytes, "\xff\xd8\xff")) {
    picture = internal::DecodeJpeg(bytes);
  } else {
    return InvalidArgumentError(std::string(name) +
                                ": expected a PNG or JPEG, found " +
                                OtherFormat(bytes) + "; convert it to PNG");
  }
  if (!picture->ok()) {
    return picture->status().WithContext(std::string(name) +
                                         ": cannot decode the picture");
  }
  return *std::move(picture);
}

StatusOr<Picture> ReadPicture(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string file_path,
                         InputPath("--input", path));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(file_path));
  return DecodePicture(file.bytes(), path);
}

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
