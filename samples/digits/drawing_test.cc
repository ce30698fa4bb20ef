#include "samples/digits/drawing.h"

#include "gtest/gtest.h"

namespace ember::digits {
namespace {

float Ink(const Image& image) {
  float ink = 0;
  for (float pixel : image) ink += pixel;
  return ink;
}

TEST(DrawingTest, SameSeedSameImage) {
  for (int digit = 0; digit < 10; ++digit) {
    Random a(5), b(5), c(6);
    const Image image = DrawDigit(digit, a);
    EXPECT_EQ(image, DrawDigit(digit, b));
    EXPECT_NE(image, DrawDigit(digit, c));
  }
}

TEST(DrawingTest, EveryDigitHasInkWithinTheImage) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const Image image = DrawDigit(i % 10, random);
    for (float pixel : image) {
      ASSERT_GE(pixel, 0.0f);
      ASSERT_LE(pixel, 1.0f);
    }
    EXPECT_GT(Ink(image), 15.0f) << "digit " << i % 10 << ", drawing " << i;
    EXPECT_LT(Ink(image), 400.0f) << "digit " << i % 10 << ", drawing " << i;
  }
}

TEST(DrawingTest, TextHasOneCharacterForTwoPixels) {
  Image image{};
  // A character represents two pixels, one below the other: these are the first
  // pixels of rows 0 and 1, so line 0 begins with a full character.
  image[0] = image[kImageSize] = 1.0f;
  // In the last character of line 1 only the upper pixel is set, to one half,
  // so the character is a light one.
  image[2 * kImageSize + 27] = 0.5f;
  const std::vector<std::string> lines = ToText(image);
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_EQ(lines[0], "@" + std::string(27, ' '));
  EXPECT_EQ(lines[1], std::string(27, ' ') + ":");
}

}  // namespace
}  // namespace ember::digits
