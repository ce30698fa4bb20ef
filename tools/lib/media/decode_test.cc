#include "tools/lib/media/decode.h"

#include <cstdio>
#include <cstdlib>
// This include must come first, because jpeglib.h uses FILE without including
// <cstdio>.
#include <jpeglib.h>

#include "gtest/gtest.h"
#include "tools/lib/media/decoders.h"

namespace ember::tools {
namespace {

std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

std::span<const uint8_t> Bytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

Picture Decode(std::string_view bytes) {
  StatusOr<Picture> picture = DecodePicture(Bytes(bytes), "x");
  EXPECT_TRUE(picture.ok()) << picture.status().ToString();
  return picture.ok() ? *std::move(picture) : Picture();
}

std::string Error(std::string_view bytes) {
  const StatusOr<Picture> picture = DecodePicture(Bytes(bytes), "x.png");
  return picture.ok() ? "" : std::string(picture.status().message());
}

// A JPEG of 8x6 pixels, written by Pillow: the left half is red, the right half
// is blue.
std::string Jpeg() {
  return FromHex(
      "ffd8ffe000104a46494600010100000100010000ffdb0043000d090a0b0a080d0b0a0b0e"
      "0e0d0f13201513121213271c1e17202e2931302e292d2c333a4a3e333646372c2d405741"
      "464c4e525352323e5a615a50604a51524fffdb0043010e0e0e131113261515264f352d35"
      "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f"
      "4f4f4f4f4f4f4f4f4f4f4f4f4f4fffc00011080006000803011100021101031101ffc400"
      "14000100000000000000000000000000000006ffc4001710000301000000000000000000"
      "0000000000044281ffc4001501010100000000000000000000000000000405ffc4001911"
      "0002030100000000000000000000000000054281c143ffda000c03010002110311003f00"
      "3ae468f47d2b4a6e21787fffd9");
}

// A JPEG of 2x2 pixels in CMYK, inverted as Adobe stores it: the left column is
// red, the right one is blue.
std::string CmykJpeg() {
  return FromHex(
      "ffd8ffee000e41646f626500640000000000ffdb004300100b0c0e0c0a100e0d0e121110"
      "1318281a181616183123251d283a333d3c3933383740485c4e404457453738506d51575f"
      "626768673e4d71797064785c656763ffc000140800020002044311004d11005911004b11"
      "00ffc400160001010100000000000000000000000000050607ffc4001b10000104030000"
      "0000000000000000000000010204053573b1ffda000e0443004d0059004b00003f000ec3"
      "232b6bfaa498a57e3a2ea6710d00ffd9");
}

std::string GreyPng() {  // the four pixels are 0, 85, 170 and 255
  return FromHex(
      "89504e470d0a1a0a0000000d4948445200000002000000020800000000"
      "57dd52f80000000e4944415478da6360086558f51f0003ad01ff7a93847f"
      "0000000049454e44ae426082");
}

// Replaces the height and the width in a JPEG's frame header.
std::string WithSize(std::string jpeg, int height, int width) {
  const size_t frame = jpeg.find("\xff\xc0");
  jpeg[frame + 5] = static_cast<char>(height >> 8);
  jpeg[frame + 6] = static_cast<char>(height);
  jpeg[frame + 7] = static_cast<char>(width >> 8);
  jpeg[frame + 8] = static_cast<char>(width);
  return jpeg;
}

void ExpectNear(const uint8_t* pixel, Rgb color, int tolerance) {
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(pixel[c], color[c], tolerance);
}

TEST(DecodeTest, NamesOfPictures) {
  EXPECT_TRUE(HasPictureName("a/cat.JPG"));
  EXPECT_TRUE(HasPictureName("cat.jpeg"));
  EXPECT_TRUE(HasPictureName("cat.png"));
  EXPECT_FALSE(HasPictureName("cat.png/x.npy"));
  EXPECT_FALSE(HasPictureName("png"));
}

TEST(DecodeTest, Jpeg) {
  const Picture picture = Decode(Jpeg());
  ASSERT_EQ(picture.SizeText(), "8x6");
  ExpectNear(picture.at(1, 5), {200, 40, 40}, 12);
  ExpectNear(picture.at(6, 0), {40, 40, 200}, 12);
}

TEST(DecodeTest, CmykJpeg) {
  const Picture picture = Decode(CmykJpeg());
  ASSERT_EQ(picture.SizeText(), "2x2");
  EXPECT_GT(picture.at(0, 0)[0], picture.at(0, 0)[2]) << "red";
  EXPECT_GT(picture.at(1, 1)[2], picture.at(1, 1)[0]) << "blue";
}

TEST(DecodeTest, GreyPng) {
  const Picture picture = Decode(GreyPng());
  ASSERT_EQ(picture.SizeText(), "2x2");
  ExpectNear(picture.at(1, 0), {85, 85, 85}, 0);
  ExpectNear(picture.at(0, 1), {170, 170, 170}, 0);
}

TEST(DecodeTest, SixteenBitsAreRounded) {
  const Picture picture = Decode(
      FromHex("89504e470d0a1a0a0000000d494844520000000200000001100000000081d9fc"
              "150000000d4944415478da636860f8ff1f000502027fc900d675000000004945"
              "4e44ae426082"));
  ExpectNear(picture.at(0, 0), {128, 128, 128}, 0);
  ExpectNear(picture.at(1, 0), {255, 255, 255}, 0);
}

TEST(DecodeTest, TransparentPartsLieOnWhite) {
  const Picture picture = Decode(
      FromHex("89504e470d0a1a0a0000000d4948445200000002000000010806000000f4227f"
              "8a000000114944415478da63f8cfc0f0ff3f0303030010f802fed3300cd50000"
              "000049454e44ae426082"));
  ExpectNear(picture.at(0, 0), {255, 0, 0}, 0);
  ExpectNear(picture.at(1, 0), {255, 255, 255}, 0);
}

TEST(DecodeTest, PngThatIsWrittenIsReadBack) {
  StatusOr<Picture> picture = Picture::Make(37, 11);
  ASSERT_TRUE(picture.ok());
  for (size_t i = 0; i < picture->pixels.size(); ++i)
    picture->pixels[i] = static_cast<uint8_t>(i * 7);
  const StatusOr<std::string> png = EncodePng(*picture);
  ASSERT_TRUE(png.ok());
  EXPECT_EQ(Decode(*png).pixels, picture->pixels);
}

TEST(DecodeTest, EveryTruncationIsAnError) {
  // The last 12 bytes of a PNG (the chunk IEND) and the last 2 bytes of a JPEG
  // may be missing, because all pixels come before them.
  for (const auto& [whole, end] :
       {std::pair(Jpeg(), 2), std::pair(GreyPng(), 12)}) {
    for (size_t size = 0; size + static_cast<size_t>(end) < whole.size();
         ++size)
      EXPECT_NE(Error(whole.substr(0, size)), "") << size;
  }
}

TEST(DecodeTest, HugeDimensionsAreRefusedBeforeMemoryIsTaken) {
  EXPECT_EQ(Error(WithSize(Jpeg(), 65000, 65000)),
            "x.png: cannot decode the JPEG: expected a picture of at most "
            "67108864 pixels, found 65000x65000");
  // The header says 8000x8000 pixels, but the data ends much earlier. libjpeg
  // must stop there with an error.
  EXPECT_NE(Error(WithSize(Jpeg(), 8000, 8000)), "");
}

// Returns a progressive JPEG of 16x16 grey pixels. If `scans` is negative, it
// has libjpeg's usual scans. Otherwise it has so many scans, of one coefficient
// each.
std::string ProgressiveJpeg(int scans) {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = jpeg.image_height = 16;
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  std::vector<jpeg_scan_info> script = {{3, {0, 1, 2}, 0, 0, 0, 0}};
  for (int i = 0; i < scans; ++i)
    script.push_back({1, {i / 63}, i % 63 + 1, i % 63 + 1, 0, 0});
  jpeg_simple_progression(&jpeg);
  if (scans >= 0) {
    jpeg.scan_info = script.data();
    jpeg.num_scans = static_cast<int>(script.size());
  }
  jpeg_start_compress(&jpeg, TRUE);
  std::vector<uint8_t> row(16 * 3, 100);
  JSAMPROW rows = row.data();
  for (int y = 0; y < 16; ++y) jpeg_write_scanlines(&jpeg, &rows, 1);
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  return file;
}

TEST(DecodeTest, ManyScansAreRefused) {
  ExpectNear(Decode(ProgressiveJpeg(-1)).at(8, 8), {100, 100, 100}, 2);
  ExpectNear(Decode(ProgressiveJpeg(90)).at(8, 8), {100, 100, 100}, 2);
  EXPECT_EQ(
      Error(ProgressiveJpeg(180)),
      "x.png: cannot decode the JPEG: expected at most 100 scans of a "
      "progressive JPEG, found more; save it again, or convert it to PNG");
}

TEST(DecodeTest, OtherFormatsAreNamed) {
  const auto other = [](const std::string& found) {
    return "x.png: expected a picture (PNG, JPEG, WebP, TIFF, JPEG 2000, BMP "
           "or Netpbm), found " +
           found + "; convert it to PNG";
  };
  EXPECT_EQ(Error("GIF89a......"), other("a GIF"));
  EXPECT_EQ(Error(""), other("an empty file"));
  EXPECT_EQ(Error("hello"), other("a file of another kind"));
  EXPECT_EQ(
      Error("RIFF....WEBPVP8 "),
      "x.png: cannot decode the WebP: expected the header of a WebP; save "
      "it again, or convert it to PNG");
}

TEST(DecodeTest, OrientationOfExif) {
  const auto segment = [](std::string_view tiff) {
    return std::string("Exif\0\0", 6) + std::string(tiff);
  };
  const std::string little =
      segment(FromHex("49492a0008000000"
                      "0100"
                      "12010300010000000600000000000000"));
  EXPECT_EQ(internal::ExifOrientation(Bytes(little)), 6);
  const std::string big =
      segment(FromHex("4d4d002a00000008"
                      "0001"
                      "01120003000000010008000000000000"));
  EXPECT_EQ(internal::ExifOrientation(Bytes(big)), 8);
  for (size_t size = 0; size < big.size() - 4; ++size)
    EXPECT_EQ(internal::ExifOrientation(Bytes(big.substr(0, size))), 1) << size;
  // The directory's offset in this TIFF header points behind the end of the
  // segment.
  EXPECT_EQ(internal::ExifOrientation(
                Bytes(segment(FromHex("49492a00ffffffff0100")))),
            1);
}

TEST(DecodeTest, UprightUndoesEachOrientation) {
  // A picture of 2x3 pixels, upright the rows 12, 34, 56. Each entry has an
  // orientation and the rows in which a camera stores the picture with that
  // orientation.
  const std::string stored[] = {"12|34|56", "21|43|65", "65|43|21", "56|34|12",
                                "135|246",  "246|135",  "642|531",  "531|642"};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const std::string& text = stored[orientation - 1];
    const int width = static_cast<int>(text.find('|'));
    StatusOr<Picture> picture = Picture::Make(width, width == 2 ? 3 : 2);
    ASSERT_TRUE(picture.ok());
    size_t at = 0;
    for (const char c : text) {
      if (c != '|') picture->pixels[at] = static_cast<uint8_t>(c - '0');
      if (c != '|') at += 3;
    }
    const StatusOr<Picture> upright =
        internal::Upright(*std::move(picture), orientation);
    ASSERT_TRUE(upright.ok());
    ASSERT_EQ(upright->SizeText(), "2x3");
    std::string found;
    for (size_t i = 0; i < upright->pixels.size(); i += 3)
      found += static_cast<char>('0' + upright->pixels[i]);
    EXPECT_EQ(found, "123456") << orientation;
  }
}

TEST(DecodeTest, MissingFile) {
  const StatusOr<Picture> picture = ReadPicture("/no/cat.png");
  EXPECT_FALSE(picture.ok());
  EXPECT_NE(picture.status().message().find("/no/cat.png"), std::string::npos);
}

}  // namespace
}  // namespace ember::tools
