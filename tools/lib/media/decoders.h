// The decoders of tools/lib/media/decode.h, one for each format. Each gets a
// file that begins as its format does.
//
// Errors have no file name; the caller adds it. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_DECODERS_H_
#define EMBER_TOOLS_LIB_MEDIA_DECODERS_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "tools/lib/media/decode.h"
#include "tools/lib/media/picture.h"

namespace ember::tools::internal {

using DecodeFunction = StatusOr<Picture>(std::span<const uint8_t> bytes,
                                         const DecodeOptions& options);
DecodeFunction DecodePng;
DecodeFunction DecodeJpeg;
DecodeFunction DecodeWebp;
DecodeFunction DecodeTiff;
DecodeFunction DecodeJpeg2000;
DecodeFunction DecodeBmp;
DecodeFunction DecodeNetpbm;

// Makes a black picture and charges the budget of the options for it. Error:
// the extents are refused (Picture::Make), or the budget is exceeded.
StatusOr<Picture> NewPicture(int64_t width, int64_t height,
                             const DecodeOptions& options);

// Writes a pixel from four bytes: red, green, blue and opacity (255: opaque).
void StorePixel(const uint8_t* rgba, bool on_white, uint8_t* rgb);

// Returns the orientation that the EXIF data of a JPEG gives, 1 to 8; 1 (the
// picture as it is) if there is none. `segment` is the data of an APP1 marker.
int ExifOrientation(std::span<const uint8_t> segment);
// Rotates and mirrors a picture with this EXIF orientation so that it is
// upright.
StatusOr<Picture> Upright(Picture picture, int orientation);

}  // namespace ember::tools::internal

#endif  // EMBER_TOOLS_LIB_MEDIA_DECODERS_H_
