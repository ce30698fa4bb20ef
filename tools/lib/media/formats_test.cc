// Decodes a picture of 3 x 2 pixels in each format. Pillow 9.4 wrote the files.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/lib/cli/public_key.h"
#include "tools/lib/media/decode.h"
#include "tools/lib/media/image_decoder.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

using Pixels = std::vector<int>;

// The pixels of all files; `kGrey` and `kBits` are Pillow's conversions.
const Pixels kColours = {255, 0,  0,  0,   255, 0,   0, 0, 255,
                         10,  20, 30, 255, 255, 255, 0, 0, 0};
const Pixels kGrey = {76, 76, 76, 150, 150, 150, 29, 29, 29,
                      18, 18, 18, 255, 255, 255, 0,  0,  0};
const Pixels kBits = {0, 0, 0, 255, 255, 255, 0, 0, 0,
                      0, 0, 0, 255, 255, 255, 0, 0, 0};
// The opacities of the files that have them.
constexpr std::array<int, 6> kOpacities = {255, 128, 0, 255, 255, 64};

struct FormatCase {
  const char* name;
  const char* hex;  // bytes of the file
  const Pixels& pixels;
  bool has_opacity;
};

const FormatCase kCases[] = {
    {"lossless WebP",
     "5249464638000000574542505650384c2b0000002f024000002f20102088f09f"
     "6a434890d0fdbf5781004189ff4af31f203639b60a04026488162d22fa1f3900",
     kColours, false},
    {"WebP with opacity",
     "5249464642000000574542505650384c360000002f024000102f20102088f09f"
     "6a834cda267de7dfef04020423fe2f1164db0c6d233bfa03c3fdc66cd81a0804"
     "2863c5164344f43fce0a",
     kColours, true},
    {"TIFF",
     "49492a00080000000a0000010400010000000300000001010400010000000200"
     "0000020103000300000086000000030103000100000001000000060103000100"
     "00000200000011010400010000008c0000001501030001000000030000001601"
     "040001000000020000001701040001000000120000001c010300010000000100"
     "000000000000080008000800ff000000ff000000ff0a141effffff000000",
     kColours, false},
    {"compressed TIFF",
     "49492a001e000000789cfbcfc0c0f01f84b944e4feff07b1003aa50637000a00"
     "0001030001000000030000000101030001000000020000000201030003000000"
     "9c00000003010300010000000800000006010300010000000200000011010400"
     "0100000008000000150103000100000003000000160103000100000002000000"
     "1701040001000000150000001c01030001000000010000000000000008000800"
     "0800",
     kColours, false},
    {"grey TIFF",
     "49492a0008000000090000010400010000000300000001010400010000000200"
     "0000020103000100000008000000030103000100000001000000060103000100"
     "00000100000011010400010000007a0000001601040001000000020000001701"
     "040001000000060000001c0103000100000001000000000000004c961d12ff00",
     kGrey, false},
    {"TIFF with opacity",
     "49492a00080000000b0000010400010000000300000001010400010000000200"
     "0000020103000400000092000000030103000100000001000000060103000100"
     "00000200000011010400010000009a0000001501030001000000040000001601"
     "040001000000020000001701040001000000180000001c010300010000000100"
     "0000520103000100000002000000000000000800080008000800ff0000ff00ff"
     "00800000ff000a141effffffffff00000040",
     kColours, true},
    {"grey TIFF with opacity",
     "49492a00080000000b0000010400010000000300000001010400010000000200"
     "0000020103000200000008000800030103000100000001000000060103000100"
     "0000010000001101040001000000920000001501030001000000020000001601"
     "0400010000000200000017010400010000000c0000001c010300010000000100"
     "0000520103000100000002000000000000004cff96801d0012ffffff0040",
     kGrey, true},
    {"JPEG 2000 with boxes",
     "0000000c6a5020200d0a870a00000014667479706a703220000000006a703220"
     "0000002d6a703268000000166968647200000002000000030003070700000000"
     "000f636f6c7201000000000010000000c96a703263ff4fff51002f0000000000"
     "0300000002000000000000000000000003000000020000000000000000000307"
     "0101070101070101ff52000c00000001000104040001ff5c00074040484850ff"
     "640025000143726561746564206279204f70656e4a5045472076657273696f6e"
     "20322e352e30ff90000a00000000004e0001ff93cfb40c0b9ee7c0f84202bfcf"
     "b40c06dd37c3ea029f801cfcc080008f0b4543034fcfc00a07c80a03e4040087"
     "02b3057fc3ea029f801cfcc080000f02c6a30331ffd9",
     kColours, false},
    {"JPEG 2000 codestream",
     "ff4fff51002f0000000000030000000200000000000000000000000300000002"
     "00000000000000000003070101070101070101ff52000c000000010001040400"
     "01ff5c00074040484850ff640025000143726561746564206279204f70656e4a"
     "5045472076657273696f6e20322e352e30ff90000a00000000004e0001ff93cf"
     "b40c0b9ee7c0f84202bfcfb40c06dd37c3ea029f801cfcc080008f0b4543034f"
     "cfc00a07c80a03e404008702b3057fc3ea029f801cfcc080000f02c6a30331ff"
     "d9",
     kColours, false},
    {"BMP",
     "424d4e0000000000000036000000280000000300000002000000010018000000"
     "000018000000c40e0000c40e000000000000000000001e140affffff00000000"
     "00000000ff00ff00ff0000000000",
     kColours, false},
    {"BMP of two colours",
     "424d46000000000000003e000000280000000300000002000000010001000000"
     "000008000000c40e0000c40e0000020000000200000000000000ffffffff4000"
     "000040000000",
     kBits, false},
    {"PPM", "50360a3320320a3235350aff000000ff000000ff0a141effffff000000",
     kColours, false},
    {"PGM", "50350a3320320a3235350a4c961d12ff00", kGrey, false},
    {"PBM", "50340a3320320aa0a0", kBits, false},
    {"PNG with opacity",
     "89504e470d0a1a0a0000000d49484452000000030000000208060000009d7466"
     "1a0000001f49444154789c05c1b10100200cc020e6cecedee269fd3c82489698"
     "73abc2fb806509f4ab4c27360000000049454e44ae426082",
     kColours, true},
};

std::vector<uint8_t> BytesOf(const FormatCase& c) {
  const std::string line = c.hex + std::string("\n");
  return *ParseHexLine(line, line.size() / 2);
}

// Returns the bytes of the case with this name.
std::vector<uint8_t> BytesNamed(std::string_view name) {
  return BytesOf(*std::ranges::find(kCases, name, &FormatCase::name));
}

Pixels Decoded(const std::vector<uint8_t>& file, const DecodeOptions& options) {
  const StatusOr<Picture> picture = DecodePicture(file, "x", options);
  EXPECT_TRUE(picture.ok()) << picture.status().ToString();
  if (!picture.ok()) return {};
  EXPECT_EQ(picture->SizeText(), "3x2");
  return {picture->pixels.begin(), picture->pixels.end()};
}

// A budget that refuses to exceed a limit.
class Limit final : public MemoryBudget {
 public:
  explicit Limit(int64_t limit) : limit_(limit) {}
  Status Charge(int64_t bytes) override {
    if (used_ + bytes > limit_) return ResourceExhaustedError("too many bytes");
    used_ += bytes;
    return OkStatus();
  }
  void Discharge(int64_t bytes) override { used_ -= bytes; }
  int64_t used() const { return used_; }

 private:
  const int64_t limit_;
  int64_t used_ = 0;
};

TEST(FormatsTest, ColoursAreDecoded) {
  for (const FormatCase& c : kCases) {
    SCOPED_TRACE(c.name);
    Pixels pixels = Decoded(BytesOf(c), {.on_white = false});
    // libtiff multiplies colours by the opacity, so the colour of an invisible
    // pixel (opacity 0) is lost.
    if (c.name == std::string("TIFF with opacity"))
      std::copy_n(c.pixels.begin() + 6, 3, pixels.begin() + 6);
    EXPECT_EQ(pixels, c.pixels);
  }
}

// The pictures of 16 bits have the same pixels; ImageMagick wrote them.
constexpr char kFlat[] =
    "89504e470d0a1a0a0000000d4948445200000008000000081000000000b1f43d"
    "140000001a4944415408d763646060fecb820419e55fb0a008b028d04300007f"
    "cc3f89149dd4310000000049454e44ae426082";
constexpr char kInterlaced[] =
    "89504e470d0a1a0a0000000d4948445200000008000000081000000001c6f30d"
    "82000000404944415408d763606060e0ffc258bf40e00b23fb2f812f8cedb304"
    "be30da5fe0f8c5f18be317e3fe022883f92f84c1e27001178351fe05cb5f14e8"
    "7081540100177e4055868683ce0000000049454e44ae426082";

TEST(FormatsTest, InterlacedPngsOfSixteenBits) {
  const auto decoded = [](const char* hex) {
    const StatusOr<Picture> picture =
        DecodePicture(BytesOf({"", hex, kGrey, false}), "x");
    EXPECT_TRUE(picture.ok()) << picture.status().ToString();
    return picture.ok() ? picture->pixels : std::vector<uint8_t>();
  };
  const std::vector<uint8_t> flat = decoded(kFlat);
  ASSERT_EQ(flat.size(), 8u * 8 * 3);
  // Element i is 1021 * i of 65535.
  for (size_t i = 0; i < 64; ++i)
    EXPECT_NEAR(flat[3 * i], static_cast<double>(i) * 1021 / 257, 0.51) << i;
  EXPECT_EQ(decoded(kInterlaced), flat);
}

TEST(FormatsTest, TilesOfATiff) {
  const StatusOr<std::string> file =
      ReadFile("tools/lib/media/testdata/fuzz/tiled.tiff");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(Decoded({file->begin(), file->end()}, {}), kColours);
}

// The pixels are stored in columns; the tag of the orientation is 6.
TEST(FormatsTest, OrientationOfATiff) {
  const StatusOr<std::string> file =
      ReadFile("tools/lib/media/testdata/fuzz/turned.tiff");
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_EQ(Decoded({file->begin(), file->end()}, {.upright = false}),
            kColours);
}

TEST(FormatsTest, OpacityMixesWithWhite) {
  for (const FormatCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const Pixels pixels = Decoded(BytesOf(c), {});
    for (size_t i = 0; i < pixels.size(); ++i) {
      const int opacity = c.has_opacity ? kOpacities[i / 3] : 255;
      EXPECT_NEAR(pixels[i],
                  (c.pixels[i] * opacity + 255 * (255 - opacity)) / 255.0, 1)
          << i;
    }
  }
}

TEST(FormatsTest, TruncatedFilesAreErrorsOrPictures) {
  for (const FormatCase& c : kCases) {
    const std::vector<uint8_t> file = BytesOf(c);
    for (size_t size = 0; size < file.size(); ++size) {
      // A copy of its own size lets AddressSanitizer find reads past the end.
      const std::vector<uint8_t> part(
          file.begin(), file.begin() + static_cast<ptrdiff_t>(size));
      const StatusOr<Picture> picture = DecodePicture(part, "x");
      if (!picture.ok()) continue;
      EXPECT_EQ(picture->SizeText(), "3x2") << c.name << size;
    }
  }
}

// Returns the error for a file, "" if it is decoded.
std::string Error(const std::string& file) {
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  const StatusOr<Picture> picture = DecodePicture(bytes, "x");
  return picture.ok() ? "" : std::string(picture.status().message());
}

TEST(FormatsTest, NumbersThatDoNotFitAreErrors) {
  EXPECT_EQ(Error("P3 1 1 5 5 0 1"), "");
  EXPECT_THAT(Error("P3 1 1 5 9 0 1"),
              HasSubstr("expected values of at most 5, found 9"));
  EXPECT_THAT(Error("P6 1 1 255Xabc"),
              HasSubstr("expected white space after the header"));
  EXPECT_THAT(Error("P6 0 0 255\n"),
              HasSubstr("expected a picture of at least one pixel"));
  const std::vector<uint8_t> bmp = BytesNamed("BMP");
  std::string moved(bmp.begin(), bmp.end());
  moved[10] = 20;  // the offset of the pixels, which are then in the header
  EXPECT_THAT(Error(moved),
              HasSubstr("expected the pixels of a BMP after its header"));
}

// A TIFF with a palette that ends before the palette.
TEST(FormatsTest, PaletteThatIsCutOff) {
  constexpr char kFile[] =
      "49492a0014000000789c636064004200000f00040a0000010300010000000300"
      "0000010103000100000002000000020103000100000008000000030103000100"
      "0000080000000601030001000000030000001101040001000000080000001601"
      "0300010000000200000017010400010000000c0000001c010300010000000100"
      "000040010300000300009200000000000000";
  const std::vector<uint8_t> bytes = BytesOf({"", kFile, kGrey, false});
  EXPECT_THAT(Error({bytes.begin(), bytes.end()}), HasSubstr("ColorMap"));
}

TEST(FormatsTest, BudgetIsCharged) {
  for (const FormatCase& c : kCases) {
    SCOPED_TRACE(c.name);
    constexpr int64_t kBytes = 3 * 2 * 8;
    Limit exact(kBytes), less(kBytes - 1);
    EXPECT_TRUE(DecodePicture(BytesOf(c), "x", {.budget = &exact}).ok());
    EXPECT_EQ(exact.used(), kBytes);
    EXPECT_EQ(DecodePicture(BytesOf(c), "x", {.budget = &less}).status().code(),
              StatusCode::kResourceExhausted);
  }
}

TEST(ImageDecoderTest, OrdersOfChannels) {
  Limit budget(1000);
  const std::vector<uint8_t> file = BytesOf(kCases[0]);
  StatusOr<vm::DecodedImage> image =
      DecodeImage(file, vm::PixelOrder::kBgr, budget);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->height, 2);
  EXPECT_EQ(image->width, 3);
  for (size_t i = 0; i < image->pixels.size(); ++i)
    EXPECT_EQ(image->pixels[i], kColours[i / 3 * 3 + 2 - i % 3]);
  image = DecodeImage(file, vm::PixelOrder::kGrey, budget);
  ASSERT_TRUE(image.ok());
  ASSERT_EQ(image->pixels.size(), 6u);
  for (size_t i = 0; i < image->pixels.size(); ++i)
    EXPECT_EQ(image->pixels[i], kGrey[3 * i]);
  EXPECT_EQ(budget.used(), 0);
}

TEST(ImageDecoderTest, OtherBytesAreAnEmptyPicture) {
  Limit budget(1000);
  // The second file has a width of 0.
  const std::vector<uint8_t> text = {'n', 'o', 'n', 'e'};
  const std::vector<uint8_t> narrow = {'P', '6', ' ', '0', ' ',
                                       '1', ' ', '9', '\n'};
  const StatusOr<vm::DecodedImage> none =
      DecodeImage(narrow, vm::PixelOrder::kRgb, budget);
  ASSERT_TRUE(none.ok());
  EXPECT_TRUE(none->pixels.empty());
  const StatusOr<vm::DecodedImage> image =
      DecodeImage(text, vm::PixelOrder::kRgb, budget);
  ASSERT_TRUE(image.ok());
  EXPECT_EQ(image->height, 0);
  EXPECT_EQ(image->width, 0);
  EXPECT_TRUE(image->pixels.empty());
}

TEST(ImageDecoderTest, BudgetIsAnError) {
  Limit budget(10);
  EXPECT_EQ(DecodeImage(BytesOf(kCases[0]), vm::PixelOrder::kRgb, budget)
                .status()
                .code(),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(budget.used(), 0);
}

}  // namespace
}  // namespace ember::tools
