// Tests RoiAlign and MaxRoiPool against plain loops over bins and samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using Values = std::vector<double>;

constexpr unsigned kSeed = 4711;
constexpr int kChannels = 2, kHeight = 6, kWidth = 5;

// One channel of a feature map, [kHeight, kWidth].
struct Map {
  const double* values;
  double At(int y, int x) const { return values[y * kWidth + x]; }
};

struct Align {
  bool maximum;
  bool half_pixel;
  int sampling_ratio;
  double scale;
  int bins_y, bins_x;
};

// Returns the value of one sample: the sum of the four neighbouring elements
// with their weights or, if `maximum` is true, the largest weighted element.
double SampleAt(const Map& map, double y, double x, bool maximum) {
  if (y < -1 || y > kHeight || x < -1 || x > kWidth) return 0;
  y = std::max(y, 0.0);
  x = std::max(x, 0.0);
  int top = static_cast<int>(y), left = static_cast<int>(x);
  int bottom = top + 1, right = left + 1;
  if (top >= kHeight - 1) bottom = top = kHeight - 1, y = top;
  if (left >= kWidth - 1) right = left = kWidth - 1, x = left;
  const double fy = y - top, fx = x - left;
  const double corners[] = {(1 - fy) * (1 - fx) * map.At(top, left),
                            (1 - fy) * fx * map.At(top, right),
                            fy * (1 - fx) * map.At(bottom, left),
                            fy * fx * map.At(bottom, right)};
  if (maximum) return *std::max_element(corners, corners + 4);
  return corners[0] + corners[1] + corners[2] + corners[3];
}

double AlignBin(const Map& map, const double* roi, const Align& o, int bin_y,
                int bin_x) {
  const double offset = o.half_pixel ? 0.5 : 0;
  double start[2], bin[2];
  int grid[2];
  for (int axis = 0; axis < 2; ++axis) {
    start[axis] = roi[1 - axis] * o.scale - offset;
    double size = roi[3 - axis] * o.scale - offset - start[axis];
    if (!o.half_pixel) size = std::max(size, 1.0);
    bin[axis] = size / (axis == 0 ? o.bins_y : o.bins_x);
    grid[axis] = o.sampling_ratio > 0 ? o.sampling_ratio
                                      : static_cast<int>(std::ceil(bin[axis]));
  }
  double sum = 0, largest = -INFINITY;
  for (int i = 0; i < grid[0]; ++i) {
    for (int j = 0; j < grid[1]; ++j) {
      const double sample = SampleAt(
          map, start[0] + bin_y * bin[0] + (i + 0.5) * bin[0] / grid[0],
          start[1] + bin_x * bin[1] + (j + 0.5) * bin[1] / grid[1], o.maximum);
      sum += sample;
      largest = std::max(largest, sample);
    }
  }
  if (o.maximum) return largest == -INFINITY ? 0 : largest;
  return sum / std::max(grid[0] * grid[1], 1);
}

void CheckAlign(const Align& o, int batch, int opset) {
  std::mt19937 random(kSeed);
  std::uniform_real_distribution<float> value(-1, 0.5), corner(-3, 12);
  const size_t map_size = kHeight * kWidth;
  Values x(batch * kChannels * map_size);
  for (double& v : x) v = value(random);
  constexpr int kRegions = 12;
  Values rois, batches;
  for (int i = 0; i < kRegions; ++i) {
    for (int j = 0; j < 4; ++j) rois.push_back(corner(random));
    // The first two regions may have corners in the wrong order; those of all
    // other regions are put into order.
    if (i > 1) {
      for (int j = 0; j < 2; ++j)
        if (rois[i * 4 + j] > rois[i * 4 + 2 + j])
          std::swap(rois[i * 4 + j], rois[i * 4 + 2 + j]);
    }
    batches.push_back(static_cast<double>(random() % batch));
  }
  Values expected;
  for (int r = 0; r < kRegions; ++r) {
    for (int channel = 0; channel < kChannels; ++channel) {
      const Map map{x.data() +
                    (static_cast<size_t>(batches[r]) * kChannels + channel) *
                        map_size};
      for (int y = 0; y < o.bins_y; ++y)
        for (int z = 0; z < o.bins_x; ++z)
          expected.push_back(AlignBin(map, &rois[r * 4], o, y, z));
    }
  }
  OneNode node("RoiAlign", opset);
  node.Input(F32({batch, kChannels, kHeight, kWidth}, x));
  node.Input(F32({kRegions, 4}, rois), {-1, 4});
  node.Input(I64({kRegions}, batches), {-1});
  node.Attribute({"mode", o.maximum ? "max" : "avg"});
  node.Attribute({"output_height", o.bins_y});
  node.Attribute({"output_width", o.bins_x});
  node.Attribute({"sampling_ratio", o.sampling_ratio});
  node.Attribute({"spatial_scale", o.scale});
  if (opset >= 16) {
    node.Attribute({"coordinate_transformation_mode",
                    o.half_pixel ? "half_pixel" : "output_half_pixel"});
  }
  ExpectNumbers(node.Run(),
                {F32({kRegions, kChannels, o.bins_y, o.bins_x}, expected)},
                2e-5);
}

TEST(RoiAlign, AllModes) {
  for (const bool maximum : {false, true}) {
    for (const int sampling_ratio : {0, 1, 3}) {
      for (const bool half_pixel : {false, true}) {
        for (const int batch : {1, 3}) {
          SCOPED_TRACE(testing::Message()
                       << "maximum " << maximum << ", sampling_ratio "
                       << sampling_ratio << ", half_pixel " << half_pixel
                       << ", batch " << batch << ", seed " << kSeed);
          CheckAlign({maximum, half_pixel, sampling_ratio, 0.75, 3, 2}, batch,
                     22);
          CheckAlign({maximum, half_pixel, sampling_ratio, 2, 1, 2}, batch, 22);
        }
      }
    }
  }
}

TEST(RoiAlign, BeforeOpset16CoordinatesAreNotShifted) {
  CheckAlign({false, false, 2, 1, 2, 2}, 1, 10);
}

TEST(MaxRoiPool, BinsOverlapAndMayBeEmpty) {
  Values x(2 * 4 * 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i);
  OneNode node("MaxRoiPool", 22);
  node.Input(F32({2, 1, 4, 4}, x));
  // The first region covers the rows and columns 0 to 2 of the second image. It
  // is split into 2 x 2 bins of 1.5 elements, which cover the elements 0 to 1
  // and 1 to 2. The second region is outside of the feature map.
  node.Input(F32({2, 5}, {1, 0, 0, 4.2, 4.2, 0, 20, 20, 24, 24}));
  node.Attribute({"pooled_shape", std::vector<int64_t>{2, 2}});
  node.Attribute({"spatial_scale", 0.5});
  ExpectNumbers(node.Run(), {F32({2, 1, 2, 2}, {21, 22, 25, 26, 0, 0, 0, 0})});
}

}  // namespace
}  // namespace ember::tests
