#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {
namespace {

constexpr tmsize_t kMaxAllocation = tmsize_t{1} << 30;

// A file in memory, as libtiff reads it.
struct Source {
  std::span<const uint8_t> bytes;
  uint64_t position = 0;
  std::string error;  // the first error that libtiff reports
};

Source& SourceOf(thandle_t handle) { return *static_cast<Source*>(handle); }

tmsize_t Read(thandle_t handle, void* to, tmsize_t size) {
  Source& source = SourceOf(handle);
  const uint64_t rest = source.position < source.bytes.size()
                            ? source.bytes.size() - source.position
                            : 0;
  const uint64_t count = std::min(rest, static_cast<uint64_t>(size));
  if (count > 0) std::memcpy(to, source.bytes.data() + source.position, count);
  source.position += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t Write(thandle_t, void*, tmsize_t) { return 0; }

toff_t Seek(thandle_t handle, toff_t offset, int from) {
  Source& source = SourceOf(handle);
  if (from == SEEK_CUR) offset += source.position;
  if (from == SEEK_END) offset += source.bytes.size();
  return source.position = offset;
}

int Close(thandle_t) { return 0; }
toff_t Size(thandle_t handle) { return SourceOf(handle).bytes.size(); }

// The file is mapped already. libtiff does not write to it, and cannot read
// tiles without compression of files that are not mapped.
int Map(thandle_t handle, void** base, toff_t* size) {
  const Source& source = SourceOf(handle);
  *base = const_cast<uint8_t*>(source.bytes.data());
  *size = source.bytes.size();
  return 1;
}

void Unmap(thandle_t, void*, toff_t) {}

int KeepError(TIFF*, void* user, const char*, const char* format,
              va_list arguments) {
  std::string& error = static_cast<Source*>(user)->error;
  char text[200];
  std::vsnprintf(text, sizeof(text), format, arguments);
  if (error.empty()) error = text;
  return 1;
}

// Drops a warning, but keeps one about the palette as an error: libtiff would
// return the numbers of colours as greys.
int JudgeWarning(TIFF* tiff, void* user, const char* module, const char* format,
                 va_list arguments) {
  va_list copy;
  va_copy(copy, arguments);
  char text[200];
  std::vsnprintf(text, sizeof(text), format, copy);
  va_end(copy);
  return std::strstr(text, "ColorMap") == nullptr
             ? 1
             : KeepError(tiff, user, module, format, arguments);
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

std::unique_ptr<TIFF, CloseTiff> Open(Source& source) {
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options, KeepError, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options, JudgeWarning, &source);
  // The mode "rO" means: read; strips are loaded when needed.
  TIFF* const tiff = TIFFClientOpenExt("picture", "rO", &source, Read, Write,
                                       Seek, Close, Size, Map, Unmap, options);
  TIFFOpenOptionsFree(options);
  return std::unique_ptr<TIFF, CloseTiff>(tiff);
}

// The meaning of the sample after the colours.
enum class Opacity {
  kNone,           // there is none, or it is no opacity
  kStraight,       // the opacity; colours are as they are without it
  kPremultiplied,  // the opacity, by which the colours are multiplied
};

// Returns the meaning of the sample after the colours, and then makes libtiff
// return the samples as they are: it takes an unspecified one for an opacity,
// and multiplies RGB, but not grey, by a straight opacity.
Opacity TakeOpacity(TIFF* tiff) {
  uint16_t count = 0;
  uint16_t* types = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &types);
  if (count == 0) return Opacity::kNone;
  const uint16_t type = types[0];
  const std::vector<uint16_t> products(count, EXTRASAMPLE_ASSOCALPHA);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, static_cast<int>(count),
               products.data());
  return type == EXTRASAMPLE_UNASSALPHA   ? Opacity::kStraight
         : type == EXTRASAMPLE_ASSOCALPHA ? Opacity::kPremultiplied
                                          : Opacity::kNone;
}

}  // namespace

StatusOr<Picture> DecodeTiff(std::span<const uint8_t> bytes,
                             const DecodeOptions& options) {
  Source source = {bytes};
  const auto failed = [&source](const char* expected) {
    return DataLossError(source.error.empty() ? expected : source.error);
  };
  const std::unique_ptr<TIFF, CloseTiff> tiff = Open(source);
  if (tiff == nullptr) return failed("expected the header of a TIFF");
  if (!source.error.empty()) return failed("");
  const Opacity opacity = TakeOpacity(tiff.get());
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  EMBER_ASSIGN_OR_RETURN(Picture picture, NewPicture(width, height, options));
  const size_t count = size_t{width} * height;
  std::vector<uint32_t> raster(count);
  // The rows and columns are read as they are stored. libtiff reports some
  // errors although it reads all pixels.
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(),
                                orientation, 1) == 0)
    return failed("expected the pixels of a TIFF");
  for (size_t i = 0; i < count; ++i) {
    const uint32_t pixel = raster[i];
    const uint8_t rgba[4] = {
        static_cast<uint8_t>(TIFFGetR(pixel)),
        static_cast<uint8_t>(TIFFGetG(pixel)),
        static_cast<uint8_t>(TIFFGetB(pixel)),
        static_cast<uint8_t>(opacity == Opacity::kNone ? 255
                                                       : TIFFGetA(pixel))};
    uint8_t* const rgb = &picture.pixels[3 * i];
    if (opacity != Opacity::kPremultiplied || !options.on_white) {
      StorePixel(rgba, options.on_white, rgb);
      continue;
    }
    for (size_t channel = 0; channel < 3; ++channel) {
      rgb[channel] =
          static_cast<uint8_t>(std::min(rgba[channel] + 255 - rgba[3], 255));
    }
  }
  return Upright(std::move(picture), orientation);
}

}  // namespace ember::tools::internal
