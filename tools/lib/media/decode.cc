#include "tools/lib/media/decode.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>

#include "base/file.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/media/decoders.h"

namespace ember::tools {
namespace {

bool BeginsWith(std::span<const uint8_t> bytes, std::string_view text,
                size_t at = 0) {
  return bytes.size() >= at + text.size() &&
         std::memcmp(bytes.data() + at, text.data(), text.size()) == 0;
}

// A format of picture files.
struct Format {
  std::string_view name;
  bool (*matches)(std::span<const uint8_t> bytes);
  internal::DecodeFunction* decode;
};

constexpr Format kFormats[] = {
    {"PNG", [](std::span<const uint8_t> b) { return BeginsWith(b, "\x89PNG"); },
     internal::DecodePng},
    {"JPEG",
     [](std::span<const uint8_t> b) { return BeginsWith(b, "\xff\xd8\xff"); },
     internal::DecodeJpeg},
    {"WebP",
     [](std::span<const uint8_t> b) {
       return BeginsWith(b, "RIFF") && BeginsWith(b, "WEBP", 8);
     },
     internal::DecodeWebp},
    {"TIFF",
     [](std::span<const uint8_t> b) {
       return BeginsWith(b, std::string_view("II*\0", 4)) ||
              BeginsWith(b, std::string_view("MM\0*", 4));
     },
     internal::DecodeTiff},
    {"JPEG 2000",
     [](std::span<const uint8_t> b) {
       return BeginsWith(b, "jP  ", 4) || BeginsWith(b, "\xff\x4f\xff\x51");
     },
     internal::DecodeJpeg2000},
    {"BMP",
     [](std::span<const uint8_t> b) {
       return b.size() >= 26 && BeginsWith(b, "BM");
     },
     internal::DecodeBmp},
    {"Netpbm",
     [](std::span<const uint8_t> b) {
       return b.size() >= 3 && b[0] == 'P' && b[1] >= '1' && b[1] <= '6' &&
              (b[2] == '#' || std::isspace(b[2]) != 0);
     },
     internal::DecodeNetpbm},
};

const Format* FormatOf(std::span<const uint8_t> bytes) {
  const auto* const found = std::ranges::find_if(
      kFormats, [&](const Format& format) { return format.matches(bytes); });
  return found == std::end(kFormats) ? nullptr : found;
}

// Returns the name of a picture format that is not read, such as "a GIF", for
// an error message.
std::string OtherFormat(std::span<const uint8_t> bytes) {
  if (BeginsWith(bytes, "GIF8")) return "a GIF";
  if (BeginsWith(bytes, "ftypheic", 4) || BeginsWith(bytes, "ftypmif1", 4))
    return "a HEIC";
  if (BeginsWith(bytes, "ftypavif", 4)) return "an AVIF";
  if (bytes.empty()) return "an empty file";
  return "a file of another kind";
}

}  // namespace

namespace internal {

StatusOr<Picture> NewPicture(int64_t width, int64_t height,
                             const DecodeOptions& options) {
  EMBER_RETURN_IF_ERROR(Picture::CheckExtents(width, height));
  constexpr int64_t kBytesOfPixel = 8;
  if (options.budget != nullptr) {
    EMBER_RETURN_IF_ERROR(
        options.budget->Charge(width * height * kBytesOfPixel));
  }
  return Picture::Make(width, height);
}

void StorePixel(const uint8_t* rgba, bool on_white, uint8_t* rgb) {
  const int opacity = on_white ? rgba[3] : 255;
  for (int channel = 0; channel < 3; ++channel) {
    rgb[channel] = static_cast<uint8_t>(
        (rgba[channel] * opacity + 255 * (255 - opacity) + 127) / 255);
  }
}

}  // namespace internal

bool HasPictureName(std::string_view path) {
  std::string name(path.substr(path.rfind('/') + 1));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  constexpr std::string_view kEndings[] = {".png", ".jpg",  ".jpeg", ".webp",
                                           ".tif", ".tiff", ".jp2",  ".bmp",
                                           ".pbm", ".pgm",  ".ppm",  ".pnm"};
  return std::ranges::any_of(
      kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

bool IsPicture(std::span<const uint8_t> bytes) {
  return FormatOf(bytes) != nullptr;
}

StatusOr<Picture> DecodePicture(std::span<const uint8_t> bytes,
                                std::string_view name,
                                const DecodeOptions& options) {
  const Format* format = FormatOf(bytes);
  if (format == nullptr) {
    std::string names;
    for (const Format& known : kFormats) {
      if (!names.empty())
        names += &known == std::end(kFormats) - 1 ? " or " : ", ";
      names += known.name;
    }
    return InvalidArgumentError(std::string(name) + ": expected a picture (" +
                                names + "), found " + OtherFormat(bytes) +
                                "; convert it to PNG");
  }
  StatusOr<Picture> picture = format->decode(bytes, options);
  if (!picture.ok()) {
    const StatusCode code = picture.status().code();
    const char* const advice = code == StatusCode::kResourceExhausted
                                   ? ""
                                   : "; save it again, or convert it to PNG";
    return Status(code, std::string(name) + ": cannot decode the " +
                            std::string(format->name) + ": " +
                            std::string(picture.status().message()) + advice);
  }
  return picture;
}

StatusOr<Picture> ReadPicture(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string file_path,
                         InputPath("--input", path));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(file_path));
  return DecodePicture(file.bytes(), path);
}

}  // namespace ember::tools
