#include "tools/lib/media/resize.h"

#include "gtest/gtest.h"

namespace ember::tools {
namespace {

// Returns a picture of 5x3 pixels whose neighbouring pixels differ much.
Picture Sample() {
  StatusOr<Picture> picture = Picture::Make(5, 3);
  EXPECT_TRUE(picture.ok());
  for (int i = 0; i < 15; ++i) {
    uint8_t* pixel = picture->at(i % 5, i / 5);
    pixel[0] = static_cast<uint8_t>(17 * i);
    pixel[1] = static_cast<uint8_t>(53 * i);
    pixel[2] = static_cast<uint8_t>(101 * i + 7);
  }
  return *std::move(picture);
}

std::vector<uint8_t> Resized(int width, int height, Filter filter) {
  const StatusOr<Picture> result = Resize(Sample(), width, height, filter);
  EXPECT_TRUE(result.ok());
  return result.ok() ? result->pixels : std::vector<uint8_t>();
}

// The expected pixels were computed with Pillow 9.4.
TEST(ResizeTest, BilinearIsPillows) {
  EXPECT_EQ(Resized(3, 2, Filter::kBilinear),
            (std::vector<uint8_t>{39, 26, 47, 66, 109, 149, 93, 192, 109, 145,
                                  38, 131, 172, 121, 141, 199, 204, 101}));
  const std::vector<uint8_t> larger = Resized(7, 4, Filter::kBilinear);
  const std::vector<uint8_t> row = {0,  0,   7,   10,  30,  65,  22,
                                    68, 137, 34,  106, 209, 46,  144,
                                    98, 58,  182, 97,  68,  212, 155};
  EXPECT_EQ(std::vector<uint8_t>(larger.begin(), larger.begin() + 21), row);
}

TEST(ResizeTest, BicubicIsPillows) {
  EXPECT_EQ(Resized(3, 2, Filter::kBicubic),
            (std::vector<uint8_t>{32, 22, 43, 60, 109, 153, 88, 196, 109, 150,
                                  34, 136, 178, 121, 137, 206, 208, 99}));
}

TEST(ResizeTest, NearestTakesTheCentre) {
  const Picture sample = Sample();
  const StatusOr<Picture> result = Resize(sample, 1, 1, Filter::kNearest);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->pixels[0], sample.at(2, 1)[0]);
}

TEST(ResizeTest, SizesAreChecked) {
  EXPECT_FALSE(Resize(Sample(), 0, 3, Filter::kBilinear).ok());
  EXPECT_FALSE(Resize(Sample(), 1 << 20, 1 << 20, Filter::kBilinear).ok());
}

TEST(ResizeTest, CropFillsWithBlack) {
  const Picture sample = Sample();
  const StatusOr<Picture> inner = Crop(sample, 1, 1, 2, 2);
  ASSERT_TRUE(inner.ok());
  EXPECT_EQ(inner->at(1, 0)[0], sample.at(2, 1)[0]);
  const StatusOr<Picture> outer = Crop(sample, -1, -2, 9, 6);
  ASSERT_TRUE(outer.ok());
  EXPECT_EQ(outer->at(0, 2)[2], 0);
  EXPECT_EQ(outer->at(1, 2)[2], sample.at(0, 0)[2]);
  EXPECT_EQ(outer->at(5, 4)[1], sample.at(4, 2)[1]);
  EXPECT_EQ(outer->at(6, 4)[1], 0);
  const StatusOr<Picture> beside = Crop(sample, 100, 0, 3, 3);
  ASSERT_TRUE(beside.ok());
  EXPECT_EQ(beside->pixels, std::vector<uint8_t>(27, 0));
}

}  // namespace
}  // namespace ember::tools
