// Source: the structures BITMAPFILEHEADER, BITMAPCOREHEADER and
// BITMAPINFOHEADER (versions 1 to 5) of the Windows documentation.
#include <array>
#include <bit>
#include <string>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {
namespace {

constexpr uint64_t kFileHeader = 14;  // bytes before the header of the picture
constexpr uint32_t kCoreHeader = 12, kInfoHeader = 40;
// Numbers of compressions.
constexpr uint32_t kNone = 0, kBitFields = 3, kAlphaBitFields = 6;

// The bits of a pixel that hold one channel.
struct Field {
  uint32_t mask = 0;

  uint8_t Of(uint32_t pixel) const {
    if (mask == 0) return 0;
    const int shift = std::countr_zero(mask);
    const uint64_t most = mask >> shift;
    return static_cast<uint8_t>(
        (uint64_t{(pixel & mask) >> shift} * 255 + most / 2) / most);
  }
};

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, const DecodeOptions& options)
      : bytes_(bytes), options_(options) {}

  StatusOr<Picture> Read() {
    EMBER_RETURN_IF_ERROR(ReadHeader());
    EMBER_ASSIGN_OR_RETURN(Picture picture,
                           NewPicture(width_, height_, options_));
    // Each row has a multiple of 4 bytes.
    const uint64_t row_bytes =
        (static_cast<uint64_t>(width_) * bits_ + 31) / 32 * 4;
    if (!Has(pixels_at_, row_bytes * static_cast<uint64_t>(height_)))
      return DataLossError(
          "expected the pixels of a BMP, found the end of the file");
    for (int y = 0; y < picture.height; ++y) {
      const int row = is_top_down_ ? y : picture.height - 1 - y;
      const uint64_t at = pixels_at_ + static_cast<uint64_t>(row) * row_bytes;
      for (int x = 0; x < picture.width; ++x)
        StorePixel(PixelAt(at, x).data(), options_.on_white, picture.at(x, y));
    }
    return picture;
  }

 private:
  bool Has(uint64_t at, uint64_t count) const {
    return at <= bytes_.size() && count <= bytes_.size() - at;
  }
  // Returns the little-endian number of `count` bytes, which the file has.
  uint32_t Number(uint64_t at, int count) const {
    uint32_t value = 0;
    for (int i = count; i-- > 0;)
      value = value << 8 | bytes_[at + static_cast<uint64_t>(i)];
    return value;
  }

  Status ReadHeader() {
    pixels_at_ = Number(10, 4);
    const uint32_t size = Number(kFileHeader, 4);
    if (size < kCoreHeader || !Has(kFileHeader, size) ||
        (size < kInfoHeader && size != kCoreHeader))
      return DataLossError("expected the header of a BMP");
    const bool is_core = size == kCoreHeader;
    uint32_t compression = kNone;
    if (is_core) {
      width_ = Number(18, 2);
      height_ = Number(20, 2);
      bits_ = Number(24, 2);
    } else {
      width_ = static_cast<int32_t>(Number(18, 4));
      height_ = static_cast<int32_t>(Number(22, 4));
      bits_ = Number(28, 2);
      compression = Number(30, 4);
      colours_ = Number(46, 4);
    }
    is_top_down_ = height_ < 0;
    if (is_top_down_) height_ = -height_;
    if (compression != kNone && compression != kBitFields &&
        compression != kAlphaBitFields) {
      return InvalidArgumentError(
          "expected a BMP without compression, found compression " +
          std::to_string(compression));
    }
    const uint64_t end = kFileHeader + size;
    if (pixels_at_ < end) {
      return DataLossError(
          "expected the pixels of a BMP after its header, found "
          "them at byte " +
          std::to_string(pixels_at_));
    }
    switch (bits_) {
      case 1:
      case 4:
      case 8:
        return FindPalette(end, is_core);
      case 24:
        return OkStatus();
      case 16:
      case 32:
        return ReadFields(compression, size);
      default:
        return InvalidArgumentError(
            "expected 1, 4, 8, 16, 24 or 32 bits for each pixel, found " +
            std::to_string(bits_));
    }
  }

  Status FindPalette(uint64_t at, bool is_core) {
    palette_at_ = at;
    colour_bytes_ = is_core ? 3 : 4;
    if (colours_ == 0 || colours_ > (1u << bits_)) colours_ = 1u << bits_;
    if (!Has(at, colours_ * colour_bytes_))
      return DataLossError(
          "expected the palette of a BMP, found the end of the file");
    return OkStatus();
  }

  Status ReadFields(uint32_t compression, uint32_t size) {
    if (compression == kNone) {
      // A pixel of 32 bits has no opacity unless fields declare it.
      fields_ = bits_ == 16
                    ? std::array<Field, 4>{{{0x7c00}, {0x3e0}, {0x1f}, {}}}
                    : std::array<Field, 4>{{{0xff0000}, {0xff00}, {0xff}, {}}};
      return OkStatus();
    }
    // The channels' masks follow the 40 bytes of a short header; a longer
    // header has them as fields at the same offset.
    constexpr uint64_t kMasksAt = kFileHeader + kInfoHeader;
    constexpr uint32_t kHeaderWithOpacity = kInfoHeader + 16;
    const size_t count =
        compression == kAlphaBitFields || size >= kHeaderWithOpacity ? 4 : 3;
    if (!Has(kMasksAt, 4 * count))
      return DataLossError(
          "expected the masks of a BMP, found the end of the file");
    for (size_t i = 0; i < count; ++i)
      fields_[i].mask = Number(kMasksAt + 4 * i, 4);
    return OkStatus();
  }

  // Returns red, green, blue and opacity of a pixel of the row at `at`.
  std::array<uint8_t, 4> PixelAt(uint64_t at, int x) const {
    const auto column = static_cast<uint64_t>(x);
    if (bits_ == 24) {
      const uint8_t* bgr = &bytes_[at + 3 * column];
      return {bgr[2], bgr[1], bgr[0], 255};
    }
    if (bits_ > 8) {
      const uint64_t bytes = bits_ / 8;
      const uint32_t pixel =
          Number(at + bytes * column, static_cast<int>(bytes));
      const uint8_t opacity = fields_[3].mask == 0 ? 255 : fields_[3].Of(pixel);
      return {fields_[0].Of(pixel), fields_[1].Of(pixel), fields_[2].Of(pixel),
              opacity};
    }
    const uint64_t bit = column * bits_;
    const uint32_t shift = 8 - bits_ - static_cast<uint32_t>(bit % 8);
    uint32_t colour = bytes_[at + bit / 8] >> shift & ((1u << bits_) - 1);
    // A pixel whose number exceeds the palette gets the palette's first colour.
    if (colour >= colours_) colour = 0;
    const uint8_t* bgr =
        &bytes_[palette_at_ + uint64_t{colour} * colour_bytes_];
    return {bgr[2], bgr[1], bgr[0], 255};
  }

  const std::span<const uint8_t> bytes_;
  const DecodeOptions& options_;
  int64_t width_ = 0, height_ = 0;
  bool is_top_down_ = false;
  uint32_t bits_ = 0;       // bits for each pixel
  uint64_t pixels_at_ = 0;  // offset of the pixels in the file
  uint64_t palette_at_ = 0;
  uint32_t colours_ = 0;         // number of colours of the palette
  uint64_t colour_bytes_ = 0;    // bytes for each colour of the palette
  std::array<Field, 4> fields_;  // red, green, blue and opacity
};

}  // namespace

StatusOr<Picture> DecodeBmp(std::span<const uint8_t> bytes,
                            const DecodeOptions& options) {
  return Reader(bytes, options).Read();
}

}  // namespace ember::tools::internal
