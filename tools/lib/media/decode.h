// Reads pictures from files, and writes PNG files.
//
//   EMBER_ASSIGN_OR_RETURN(Picture cat, ReadPicture("cat.jpg"));
//   EMBER_ASSIGN_OR_RETURN(std::string png, EncodePng(cat));
//
// The contents of a file say its format, not its name: PNG, JPEG, WebP, TIFF
// (the first page), JPEG 2000, BMP and Netpbm (PBM, PGM, PPM). All forms become
// 8-bit RGB: grey and palettes are expanded, 16 bits are rounded, CMYK is
// converted. Colour profiles and gamma are ignored. By default transparent
// parts lie on white, and a JPEG is rotated as its EXIF orientation says.
// libpng, libjpeg-turbo, libwebp, libtiff and OpenJPEG do the work; BMP and
// Netpbm are read here.
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

#include "base/memory_budget.h"
#include "base/status.h"
#include "tools/lib/media/picture.h"

namespace ember::tools {

struct DecodeOptions {
  // True: a picture is rotated and mirrored as the EXIF data of a JPEG say.
  bool upright = true;
  // True: transparent pixels are mixed with white. False: the colour of a pixel
  // is used as it is stored.
  bool on_white = true;
  // The budget is charged with 6 bytes for each pixel before pixels are
  // allocated: the picture and the working memory of the decoder. The caller
  // discharges. Null: no budget.
  MemoryBudget* budget = nullptr;
};

// True if the file's name has the ending of a picture (.png, .jpg, .jpeg,
// .webp, .tif, .tiff, .jp2, .bmp, .pbm, .pgm, .ppm or .pnm) in any case.
bool HasPictureName(std::string_view path);

// True if the bytes begin as a picture of one of the formats does.
bool IsPicture(std::span<const uint8_t> bytes);

// Reads and decodes a file. The path is as the user typed it
// (tools/lib/cli/paths.h), and "-" is stdin.
StatusOr<Picture> ReadPicture(const std::string& path);
// Decodes the bytes of a file; `name` is for errors. Errors: InvalidArgument
// if the format is not read; DataLoss if the file is damaged;
// ResourceExhausted if there are too many pixels.
StatusOr<Picture> DecodePicture(std::span<const uint8_t> bytes,
                                std::string_view name,
                                const DecodeOptions& options = {});

// Encodes a picture as a PNG file. Returns the file's bytes.
StatusOr<std::string> EncodePng(const Picture& picture);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_DECODE_H_
