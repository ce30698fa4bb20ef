// Computes detectors' operators by plain loops, for their tests in every
// format.
//
//   Values y = AlignedRegion({map, 2, 6, 5}, {0, 1, 1, 8, 9}, 2, false);
#ifndef EMBER_TESTS_FORMATS_DETECTION_REFERENCE_H_
#define EMBER_TESTS_FORMATS_DETECTION_REFERENCE_H_

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace ember::tests {

using Values = std::vector<double>;
// A box by its corners: x1, y1, x2, y2. Only the argument of AsCorners is a box
// by its centre and its two sizes.
using Box = std::array<double, 4>;

// Draws random numbers that f32 represents exactly, so that the tested
// operators get the same numbers.
class ReferenceRandom {
 public:
  double Next(double low, double high) {
    return static_cast<float>(
        std::uniform_real_distribution<double>(low, high)(engine_));
  }
  Values Many(size_t count, double low, double high) {
    Values values(count);
    for (double& value : values) value = Next(low, high);
    return values;
  }

 private:
  std::mt19937 engine_{4711};
};

// Returns the intersection over union of two boxes. `extra` is added to each
// side of a box: it is 1 if the corners are the first and the last pixel.
inline double Overlap(const Box& a, const Box& b, double extra = 0) {
  double shared = 1, area_a = 1, area_b = 1;
  for (const size_t i : {0, 1}) {
    shared *= std::max(
        std::min(a[i + 2], b[i + 2]) - std::max(a[i], b[i]) + extra, 0.0);
    area_a *= a[i + 2] - a[i] + extra;
    area_b *= b[i + 2] - b[i] + extra;
  }
  return shared <= 0 ? 0 : shared / (area_a + area_b - shared);
}

inline Box AsCorners(const Box& center) {
  return {center[0] - center[2] / 2, center[1] - center[3] / 2,
          center[0] + center[2] / 2, center[1] + center[3] / 2};
}

inline Box BoxAt(const Values& values, size_t place) {
  return {values[place], values[place + 1], values[place + 2],
          values[place + 3]};
}

// Returns the indices of the scores, highest score first. Equal scores keep
// their order.
inline std::vector<size_t> Ordered(const Values& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

// Returns the indices of at most `most` boxes that suppression keeps, best
// first. A box is dropped if it overlaps a kept box by more than `overlap` and,
// if `same` is given, `same` is true for the two boxes.
inline std::vector<size_t> Unsuppressed(
    const std::vector<size_t>& order, const std::vector<Box>& boxes,
    double overlap, size_t most, double extra = 0,
    const std::function<bool(size_t, size_t)>& same = nullptr) {
  std::vector<size_t> kept;
  for (const size_t i : order) {
    if (kept.size() < most &&
        std::none_of(kept.begin(), kept.end(), [&](size_t other) {
          return (same == nullptr || same(i, other)) &&
                 Overlap(boxes[i], boxes[other], extra) > overlap;
        }))
      kept.push_back(i);
  }
  return kept;
}

// A feature map with the shape [images, channels, height, width].
struct FeatureMap {
  const Values& values;
  int channels, height, width;

  double At(int image, int channel, int y, int x) const {
    return values[static_cast<size_t>(
        ((image * channels + channel) * height + y) * width + x)];
  }
  // Returns the value at a point, interpolated between elements. It is 0 if the
  // point is more than one element outside of the map.
  double Sampled(int image, int channel, double y, double x) const {
    if (y < -1 || y > height || x < -1 || x > width) return 0;
    y = std::clamp(y, 0.0, height - 1.0);
    x = std::clamp(x, 0.0, width - 1.0);
    const int top = static_cast<int>(y), left = static_cast<int>(x);
    const int bottom = std::min(top + 1, height - 1);
    const int right = std::min(left + 1, width - 1);
    const double v = y - top, u = x - left;
    return (1 - v) * ((1 - u) * At(image, channel, top, left) +
                      u * At(image, channel, top, right)) +
           v * ((1 - u) * At(image, channel, bottom, left) +
                u * At(image, channel, bottom, right));
  }
};

// Samples a region (image, x1, y1, x2, y2) of all channels in 2 x 2 bins, at a
// scale of 0.5. `samples` is the number of samples along each axis of a bin. If
// it is below 1, there are as many samples as the bin has elements along the
// axis.
inline Values AlignedRegion(const FeatureMap& map, const Values& region,
                            int samples, bool aligned) {
  double start[2], bin[2];
  int grid[2];
  // Axis 0 runs along the rows (y), axis 1 along the columns (x).
  for (const int axis : {0, 1}) {
    const auto first = static_cast<size_t>(2 - axis);
    const double back = aligned ? 0.5 : 0;
    start[axis] = region[first] * 0.5 - back;
    double size = region[first + 2] * 0.5 - back - start[axis];
    if (!aligned) size = std::max(size, 1.0);
    bin[axis] = size / 2;
    grid[axis] = samples > 0 ? samples : static_cast<int>(std::ceil(bin[axis]));
  }
  Values means;
  for (int channel = 0; channel < map.channels; ++channel) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        double sum = 0;
        for (int y = 0; y < grid[0]; ++y) {
          for (int x = 0; x < grid[1]; ++x) {
            sum += map.Sampled(
                static_cast<int>(region[0]), channel,
                start[0] + i * bin[0] + (y + 0.5) * bin[0] / grid[0],
                start[1] + j * bin[1] + (x + 0.5) * bin[1] / grid[1]);
          }
        }
        means.push_back(sum / std::max(grid[0] * grid[1], 1));
      }
    }
  }
  return means;
}

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_DETECTION_REFERENCE_H_
