// Source: the manual pages pbm(5), pgm(5) and ppm(5) of Netpbm.
#include <cctype>
#include <string>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {
namespace {

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  StatusOr<Picture> Read(const DecodeOptions& options) {
    // "P1" to "P3" begin files with bits, greys or colours as text; "P4" to
    // "P6" the same in binary.
    const int kind = (bytes_[1] - '1') % 3;
    const bool is_text = bytes_[1] <= '3';
    const bool is_bits = kind == 0;
    const int channels = kind == 2 ? 3 : 1;
    EMBER_ASSIGN_OR_RETURN(const int64_t width, ReadNumber("the width"));
    EMBER_ASSIGN_OR_RETURN(const int64_t height, ReadNumber("the height"));
    int64_t most = 1;
    if (!is_bits) {
      EMBER_ASSIGN_OR_RETURN(most, ReadNumber("the largest value"));
      constexpr int64_t kMaxOfValues = 65535;
      if (most < 1 || most > kMaxOfValues) {
        return DataLossError("expected a largest value of 1 to 65535, found " +
                             std::to_string(most));
      }
    }
    // One white space ends the header.
    if (AtEnd() || std::isspace(static_cast<int>(Byte(at_))) == 0)
      return DataLossError(
          "expected white space after the header of a Netpbm file");
    ++at_;
    EMBER_RETURN_IF_ERROR(Picture::CheckExtents(width, height));
    const int64_t row_bytes =
        is_bits ? (width + 7) / 8 : width * channels * (most > 255 ? 2 : 1);
    // In a text each number has at least one digit, and bits need no space
    // between them. So the file has at least one byte for each number.
    const int64_t needed =
        is_text ? width * height * channels : row_bytes * height;
    if (needed > static_cast<int64_t>(bytes_.size()) - at_)
      return DataLossError("expected more pixels, found the end of the file");
    EMBER_ASSIGN_OR_RETURN(Picture picture, NewPicture(width, height, options));
    for (int y = 0; y < picture.height; ++y) {
      const int64_t row = at_ + y * row_bytes;
      for (int x = 0; x < picture.width; ++x) {
        uint8_t* const pixel = picture.at(x, y);
        for (int c = 0; c < channels; ++c) {
          int64_t value = 0;
          if (is_text) {
            EMBER_ASSIGN_OR_RETURN(value,
                                   is_bits ? ReadBit() : ReadNumber("a value"));
          } else if (is_bits) {
            value = Byte(row + x / 8) >> (7 - x % 8) & 1;
          } else if (most > 255) {
            const int64_t position = row + 2 * (int64_t{x} * channels + c);
            value = Byte(position) << 8 | Byte(position + 1);
          } else {
            value = Byte(row + int64_t{x} * channels + c);
          }
          // In a picture of bits (P1, P4) the value 1 is black.
          if (is_bits) value = 1 - value;
          if (value > most) {
            return DataLossError("expected values of at most " +
                                 std::to_string(most) + ", found " +
                                 std::to_string(value));
          }
          pixel[c] = static_cast<uint8_t>((value * 255 + most / 2) / most);
        }
        if (channels == 1) pixel[1] = pixel[2] = pixel[0];
      }
    }
    return picture;
  }

 private:
  int64_t Byte(int64_t position) const {
    return bytes_[static_cast<size_t>(position)];
  }
  bool AtEnd() const { return at_ >= static_cast<int64_t>(bytes_.size()); }

  // Skips white space and comments, which begin with # and end with the line.
  void SkipSpace() {
    while (!AtEnd()) {
      if (Byte(at_) == '#') {
        while (!AtEnd() && Byte(at_) != '\n') ++at_;
      } else if (std::isspace(static_cast<int>(Byte(at_))) == 0) {
        return;
      } else {
        ++at_;
      }
    }
  }
  StatusOr<int64_t> ReadNumber(const char* what) {
    SkipSpace();
    int64_t value = 0;
    int digits = 0;
    constexpr int kMaxDigits = 9;
    for (; !AtEnd() && std::isdigit(static_cast<int>(Byte(at_))) != 0; ++at_) {
      value = value * 10 + (Byte(at_) - '0');
      if (++digits > kMaxDigits) break;
    }
    if (digits == 0 || digits > kMaxDigits)
      return DataLossError(std::string("expected ") + what +
                           " of a Netpbm file");
    return value;
  }
  StatusOr<int64_t> ReadBit() {
    SkipSpace();
    if (AtEnd() || (Byte(at_) != '0' && Byte(at_) != '1'))
      return DataLossError("expected 0 or 1 in a Netpbm file");
    return Byte(at_++) - '0';
  }

  const std::span<const uint8_t> bytes_;
  // position of the next byte; at first behind the kind, "P1" to "P6"
  int64_t at_ = 2;
};

}  // namespace

StatusOr<Picture> DecodeNetpbm(std::span<const uint8_t> bytes,
                               const DecodeOptions& options) {
  return Reader(bytes).Read(options);
}

}  // namespace ember::tools::internal
