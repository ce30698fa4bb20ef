#include "tools/lib/media/picture.h"

namespace ember::tools {

Status Picture::CheckExtents(int64_t width, int64_t height) {
  const std::string found =
      ", found " + std::to_string(width) + "x" + std::to_string(height);
  if (width < 1 || height < 1)
    return DataLossError("expected a picture of at least one pixel" + found);
  if (width > kMaxPixels || height > kMaxPixels ||
      width * height > kMaxPixels) {
    return ResourceExhaustedError("expected a picture of at most " +
                                  std::to_string(kMaxPixels) + " pixels" +
                                  found);
  }
  return OkStatus();
}

StatusOr<Picture> Picture::Make(int64_t width, int64_t height) {
  EMBER_RETURN_IF_ERROR(CheckExtents(width, height));
  Picture picture;
  picture.width = static_cast<int>(width);
  picture.height = static_cast<int>(height);
  picture.pixels.resize(static_cast<size_t>(width * height * 3));
  return picture;
}

std::string Picture::SizeText() const {
  return std::to_string(width) + "x" + std::to_string(height);
}

}  // namespace ember::tools
