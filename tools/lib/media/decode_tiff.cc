#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
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

int KeepError(TIFF*, void* user, const char*, const char* format,
              va_list arguments) {
  std::string& error = static_cast<Source*>(user)->error;
  char text[200];
  std::vsnprintf(text, sizeof(text), format, arguments);
  if (error.empty()) error = text;
  return 1;
}

int DropWarning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

std::unique_ptr<TIFF, CloseTiff> Open(Source& source) {
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, kMaxAllocation);
  TIFFOpenOptionsSetErrorHandlerExtR(options, KeepError, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options, DropWarning, nullptr);
  // The mode "rmO" means: read; the file is not mapped; strips are loaded when
  // needed.
  TIFF* const tiff =
      TIFFClientOpenExt("picture", "rmO", &source, Read, Write, Seek, Close,
                        Size, nullptr, nullptr, options);
  TIFFOpenOptionsFree(options);
  return std::unique_ptr<TIFF, CloseTiff>(tiff);
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
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  EMBER_ASSIGN_OR_RETURN(Picture picture, NewPicture(width, height, options));
  const size_t count = size_t{width} * height;
  std::vector<uint32_t> raster(count);
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(),
                                ORIENTATION_TOPLEFT, 1) == 0 ||
      !source.error.empty())
    return failed("expected the pixels of a TIFF");
  for (size_t i = 0; i < count; ++i) {
    const uint32_t pixel = raster[i];
    // libtiff has multiplied the colours by the opacity. So white is added for
    // the transparent part, or the colours are divided by the opacity.
    const uint32_t opacity = TIFFGetA(pixel);
    const uint32_t parts[3] = {TIFFGetR(pixel), TIFFGetG(pixel),
                               TIFFGetB(pixel)};
    for (size_t channel = 0; channel < 3; ++channel) {
      uint32_t part = parts[channel];
      if (options.on_white) {
        part += 255 - opacity;
      } else if (opacity > 0) {
        part = (part * 255 + opacity / 2) / opacity;
      }
      picture.pixels[3 * i + channel] =
          static_cast<uint8_t>(std::min<uint32_t>(part, 255));
    }
  }
  return picture;
}

}  // namespace ember::tools::internal
