#include "tools/lib/media/draw.h"

#include <cmath>

#include "gtest/gtest.h"
#include "tools/lib/media/class_map.h"
#include "tools/lib/media/detections.h"

namespace ember::tools {
namespace {

template <typename T>
vm::Tensor Of(DType type, std::vector<int64_t> dims,
              const std::vector<T>& values) {
  StatusOr<vm::Tensor> tensor = vm::Tensor::Allocate(type, std::move(dims));
  EXPECT_TRUE(tensor.ok());
  std::ranges::copy(values, tensor->template elements<T>().begin());
  return *std::move(tensor);
}

vm::Tensor Floats(std::vector<int64_t> dims, const std::vector<float>& values) {
  return Of<float>(DType::kF32, std::move(dims), values);
}

// An input of 100x50 pixels into which a picture of 200x100 was resized.
PictureView View() {
  return {.x_scale = 2, .y_scale = 2, .width = 100, .height = 50};
}

std::optional<Detections> Find(const std::vector<std::string>& names,
                               const std::vector<vm::Tensor>& results,
                               const DetectionOptions& options = {}) {
  return FindDetections(names, results, View(), options);
}

void ExpectBox(const Detection& one, double left, double top, double right,
               double bottom) {
  EXPECT_NEAR(one.left, left, 1e-4);
  EXPECT_NEAR(one.top, top, 1e-4);
  EXPECT_NEAR(one.right, right, 1e-4);
  EXPECT_NEAR(one.bottom, bottom, 1e-4);
}

TEST(DetectionsTest, Torchvision) {
  const auto found =
      Find({"boxes", "labels", "scores"},
           {Floats({2, 4}, {10, 5, 20, 25, 1, 2, 3, 4}),
            Of<int64_t>(DType::kI64, {2}, {17, 3}), Floats({2}, {0.9f, 0.1f})});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 1u);
  EXPECT_EQ(found->found[0].number, 17);
  ExpectBox(found->found[0], 20, 10, 40, 50);
}

TEST(DetectionsTest, TensorflowHasYFirstAndACount) {
  const auto found = Find(
      {"num_detections", "detection_classes", "detection_scores",
       "detection_boxes"},
      {Floats({1}, {1}), Floats({1, 3}, {4, 5, 6}),
       Floats({1, 3}, {0.8f, 0.7f, 0.6f}),
       Floats({1, 3, 4}, {0.2f, 0.1f, 0.4f, 0.5f, 0, 0, 1, 1, 0, 0, 1, 1})});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 1u) << "num_detections";
  EXPECT_EQ(found->found[0].number, 4);
  ExpectBox(found->found[0], 20, 20, 100, 40);
}

TEST(DetectionsTest, TfliteNamesSayNothingAboutClassesAndScores) {
  const std::string name = "TFLite_Detection_PostProcess";
  const auto found = Find({name, name + ":1", name + ":2", name + ":3"},
                          {Floats({1, 2, 4}, {0, 0, 0.5f, 0.5f, 0, 0, 1, 1}),
                           Floats({1, 2}, {0, 17}),
                           Floats({1, 2}, {0.75f, 0.625f}), Floats({1}, {2})});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 2u);
  EXPECT_EQ(found->found[1].number, 17);
  EXPECT_EQ(found->found[0].score, 0.75);
}

TEST(DetectionsTest, ScoresOfClassesLoseOverlappingBoxes) {
  const std::vector<float> boxes = {0, 0,    0.5f, 0.5f, 0,    0, 0.5f, 0.48f,
                                    0, 0.5f, 0.5f, 1,    0.5f, 0, 1,    0.5f};
  const auto found =
      Find({"scores", "boxes"},
           {Floats({1, 4, 2}, {0.1f, 0.9f, 0.2f, 0.8f, 0.3f, 0.7f, 0.9f, 0.1f}),
            Floats({1, 4, 4}, boxes)});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 2u)
      << "the second box is covered, the fourth is background";
  EXPECT_EQ(found->found[0].number, 1);
  ExpectBox(found->found[1], 0, 50, 100, 100);
}

TEST(DetectionsTest, IndicesOfNonMaxSuppression) {
  const auto found =
      Find({"boxes", "scores", "selected"},
           {Floats({1, 3, 4}, {1, 1, 9, 9, 2, 2, 9, 9, 3, 3, 9, 9}),
            Floats({1, 4, 3}, {0, 0, 0, 0, 0, 0, 0, 0.9f, 0, 0, 0, 0}),
            Of<int64_t>(DType::kI64, {2, 3}, {0, 2, 1, 0, 2, 7})});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 1u) << "box 7 does not exist";
  EXPECT_EQ(found->found[0].number, 2);
  ExpectBox(found->found[0], 4, 4, 18, 18);
}

TEST(DetectionsTest, RowsOfCaffe) {
  const auto found = Find(
      {"detection_out"},
      {Floats({1, 1, 3, 7}, {0, 5, 0.9f, 0.1f, 0.2f, 0.3f, 0.4f, 0, 6, 0.1f, 0,
                             0, 1, 1,    -1,   7,    0.9f, 0,    0, 1, 1})});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->found.size(), 1u);
  EXPECT_EQ(found->found[0].number, 5);
  ExpectBox(found->found[0], 20, 20, 60, 40);
}

TEST(DetectionsTest, OrderOfTheUser) {
  DetectionOptions options;
  options.order = BoxOrder::kCxcywh;
  const auto found = Find({"b", "s"},
                          {Floats({2, 4}, {50, 25, 20, 10, 1, 1, 1, 1}),
                           Floats({2}, {0.9f, 0.25f})},
                          options);
  ASSERT_TRUE(found);
  ExpectBox(found->found.at(0), 80, 40, 120, 60);
}

TEST(DetectionsTest, OtherResultsAreNone) {
  EXPECT_FALSE(
      Find({"output"}, {Floats({1, 2, 85}, std::vector<float>(170, 0.5f))}));
  EXPECT_FALSE(Find({"boxes"}, {Floats({2, 4}, std::vector<float>(8, 1))}));
  EXPECT_FALSE(Find({}, {}));
  // YuNet's results are its own encoding, with boxes for each stride. They must
  // not be taken for detections.
  EXPECT_FALSE(
      Find({"cls_8", "bbox_8", "cls_16", "bbox_16"},
           {Floats({1, 2, 1}, {1, 1}), Floats({1, 2, 4}, std::vector<float>(8)),
            Floats({1, 1, 1}, {1}), Floats({1, 1, 4}, std::vector<float>(4))}));
  // Empty results and NaN coordinates must not make FindDetections fail.
  const auto none =
      Find({"boxes", "scores"}, {Floats({0, 4}, {}), Floats({0}, {})});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->found.empty());
  const auto nan =
      Find({"boxes", "scores"},
           {Floats({1, 4}, {NAN, 0, INFINITY, 1}), Floats({1}, {0.9f})});
  EXPECT_TRUE(!nan || nan->found.empty());
}

// Returns the class map of a result, for an input of this size.
std::optional<ClassMap> Map(const vm::Tensor& result, int width = 10,
                            int height = 8) {
  const PictureView view{.width = width, .height = height};
  return FindClassMap(std::vector<std::string>{"x"}, std::vector{result}, view);
}

TEST(ClassMapTest, EachForm) {
  std::vector<float> logits(3 * 8 * 10, 0.0f);
  logits[2 * 80 + 15] = 1;
  const auto first = Map(Floats({1, 3, 8, 10}, logits));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->width, 10);
  EXPECT_EQ(first->numbers[15], 2);
  EXPECT_EQ(first->numbers[14], 0);
  std::vector<float> last(80 * 3, 0.0f);
  last[15 * 3 + 1] = 1;
  const auto channels_last = Map(Floats({1, 8, 10, 3}, last));
  ASSERT_TRUE(channels_last);
  EXPECT_EQ(channels_last->numbers[15], 1);
  std::vector<int64_t> labels(80, 4);
  EXPECT_EQ(Map(Of<int64_t>(DType::kI64, {1, 8, 10}, labels))->numbers[3], 4);
  std::vector<float> mask(80, -3.0f);
  mask[7] = 0.2f;
  const auto logit_mask = Map(Floats({1, 1, 8, 10}, mask));
  EXPECT_EQ(logit_mask->numbers[7], 1);
  EXPECT_EQ(logit_mask->numbers[6], 0);
  EXPECT_FALSE(Map(Floats({1, 1000}, std::vector<float>(1000))));
}

TEST(ClassMapTest, OtherResultsAreNone) {
  const vm::Tensor grid = Floats({1, 4, 22, 22}, std::vector<float>(1936));
  EXPECT_TRUE(Map(grid, 176, 176));
  EXPECT_FALSE(Map(grid, 352, 352)) << "the grid of a detector";
  EXPECT_FALSE(Map(grid, 44, 22)) << "another proportion";
  EXPECT_FALSE(
      Map(Of<uint8_t>(DType::kU8, {8, 10, 3}, std::vector<uint8_t>(240))))
      << "a picture";
}

TEST(ClassMapTest, OnThePicture) {
  ClassMap map{.width = 2, .height = 1, .classes = 2, .numbers = {0, 1}};
  // The input was cropped from columns 2 to 5 of a picture of 8x1 pixels.
  const PictureView view{.left = 2, .width = 4, .height = 1};
  EXPECT_EQ(OnPicture(map, view, 8, 1),
            (std::vector<int32_t>{-1, -1, 0, 0, 1, 1, -1, -1}));
}

TEST(DrawTest, BoxesAreClipped) {
  StatusOr<Picture> picture = Picture::Make(60, 40);
  ASSERT_TRUE(picture.ok());
  Detections detections;
  detections.found = {{20, 20, 40, 30, 1, 0.9}, {-1e9, -5, 1e300, 1e9, 2, 0.8}};
  const auto legend =
      DrawDetections(detections, Labels{{"a", "b", "c"}, "x"}, *picture);
  ASSERT_EQ(legend.size(), 2u);
  EXPECT_EQ(legend[0].text, "b: 1");
  const Rgb color = ClassColor(1);
  EXPECT_TRUE(std::equal(color.begin(), color.end(), picture->at(30, 30)));
  EXPECT_EQ(picture->at(30, 25)[0], 0) << "inside of the box";
  const StatusOr<Picture> with = WithLegend(*picture, legend);
  ASSERT_TRUE(with.ok());
  EXPECT_EQ(with->width, 60);
  EXPECT_EQ(with->height, 40 + 2 * 11 + 4);
}

TEST(DrawTest, ClassesAreColouredAndCounted) {
  StatusOr<Picture> picture = Picture::Make(2, 2);
  ASSERT_TRUE(picture.ok());
  const auto legend =
      DrawClasses(std::vector<int32_t>{0, 0, 0, 2}, 3, Labels(), *picture);
  ASSERT_EQ(legend.size(), 2u);
  EXPECT_EQ(legend[0].text, "class 0: 75.0 %");
  EXPECT_EQ(legend[1].text, "class 2: 25.0 %");
  EXPECT_EQ(picture->pixels[0], 0) << "class 0 stays";
  EXPECT_NEAR(picture->pixels[9], 0.6 * ClassColor(2)[0], 1);
}

TEST(DrawTest, TextHasPoints) {
  StatusOr<Picture> picture = Picture::Make(20, 8);
  ASSERT_TRUE(picture.ok());
  DrawText("I", 0, 0, 1, {255, 255, 255}, *picture);
  std::string points;
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 5; ++x) points += picture->at(x, y)[0] ? '#' : '.';
    points += '/';
  }
  EXPECT_EQ(points, ".###./..#../..#../..#../..#../..#../.###./");
  EXPECT_EQ(TextWidth("abc", 2), 34);
  EXPECT_EQ(TextWidth("ü", 1), 5) << "one character of two bytes";
  DrawText("\xf0", 0, 0, 1, {1, 1, 1}, *picture);
}

}  // namespace
}  // namespace ember::tools
