// Reads pictures from PNG and JPEG files, and writes PNG files.
//
//   EMBER_ASSIGN_OR_RETURN(Picture cat, ReadPicture("cat.jpg"));
//   EMBER_ASSIGN_OR_RETURN(std::string png, EncodePng(cat));
//
// The contents of a file say its format, not its name. All forms of both
// formats become 8-bit RGB: grey and palettes are expanded, 16 bits are
// rounded, CMYK is converted without a colour profile, transparent parts lie on
// white, and a JPEG is rotated as its EXIF orientation says. libpng and
// libjpeg-turbo do the work.
//
// Hostile files: a picture has at most Picture::kMaxPixels, which is checked
// before pixels are decoded; a progressive JPEG has at most 100 scans; damaged
// or truncated data is an error. Errors are one line that begins with the
// file's name. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_DECODE_H_
#define EMBER_TOOLS_LIB_MEDIA_DECODE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tools/lib/media/picture.h"

namespace ember::tools {

// True if the file's name has the ending of a PNG or JPEG: .png, .jpg or .jpeg
// in any case.
bool HasPictureName(std::string_view path);

// True if the bytes begin with the signature of PNG or JPEG.
bool IsPicture(std::span<const uint8_t> bytes);

// Reads and decodes a file. The path is as the user typed it
// (tools/lib/cli/paths.h), and "-" is stdin.
StatusOr<Picture> ReadPicture(const std::string& path);
// Decodes the bytes of a file; `name` is for errors.
StatusOr<Picture> DecodePicture(std::span<const uint8_t> bytes,
                                std::string_view name);

// Encodes a picture as a PNG file. Returns the file's bytes.
StatusOr<std::string> EncodePng(const Picture& picture);

namespace internal {

// Decode a file whose signature is that of PNG or JPEG.
StatusOr<Picture> DecodePng(std::span<const uint8_t> bytes);
StatusOr<Picture> DecodeJpeg(std::span<const uint8_t> bytes);
// Returns the orientation (1 to 8) in the EXIF data of a JPEG; 1, which leaves
// the picture as it is, if there is none. `segment` is the data of an APP1
// marker.
int ExifOrientation(std::span<const uint8_t> segment);
// Rotates and mirrors a picture so that it is upright. `orientation` is that of
// the picture's EXIF data.
StatusOr<Picture> Upright(Picture picture, int orientation);

}  // namespace internal
}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_DECODE_H_
