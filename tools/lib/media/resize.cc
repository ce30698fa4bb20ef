#include "tools/lib/media/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ember::tools {
namespace {

double Triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

double Cubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0;
}

// The source pixels of which one pixel of the result is a weighted sum: pixel
// first + i has the weight weights[i].
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

std::vector<Taps> TapsOf(int from, int to, Filter filter) {
  const double scale = static_cast<double>(from) / to;
  std::vector<Taps> all(static_cast<size_t>(to));
  const double stretch = std::max(scale, 1.0);
  const double support = (filter == Filter::kBicubic ? 2.0 : 1.0) * stretch;
  for (int i = 0; i < to; ++i) {
    Taps& taps = all[static_cast<size_t>(i)];
    const double center = (i + 0.5) * scale;
    if (filter == Filter::kNearest) {
      taps = {std::min(static_cast<int>(center), from - 1), {1.0f}};
      continue;
    }
    // The bounds of the filter are truncated to integers as in Pillow, so that
    // the results are equal.
    const double low = center - support + 0.5, high = center + support + 0.5;
    taps.first = std::max(0, static_cast<int>(low));
    const int end = std::min(from, static_cast<int>(high));
    double sum = 0;
    std::vector<double> weights;
    for (int at = taps.first; at < end; ++at) {
      const double x = (at - center + 0.5) / stretch;
      weights.push_back(filter == Filter::kBicubic ? Cubic(x) : Triangle(x));
      sum += weights.back();
    }
    for (const double weight : weights)
      taps.weights.push_back(static_cast<float>(weight / sum));
  }
  return all;
}

uint8_t Rounded(float value) {
  return static_cast<uint8_t>(std::clamp(value + 0.5f, 0.0f, 255.0f));
}

}  // namespace

std::string_view FilterName(Filter filter) {
  switch (filter) {
    case Filter::kNearest:
      return "nearest";
    case Filter::kBilinear:
      return "bilinear";
    case Filter::kBicubic:
      return "bicubic";
  }
  return "";
}

StatusOr<Picture> Resize(const Picture& picture, int64_t width, int64_t height,
                         Filter filter) {
  if (width == picture.width && height == picture.height) return picture;
  EMBER_ASSIGN_OR_RETURN(Picture wide, Picture::Make(width, picture.height));
  EMBER_ASSIGN_OR_RETURN(Picture result, Picture::Make(width, height));
  const std::vector<Taps> columns = TapsOf(picture.width, wide.width, filter);
  for (int y = 0; y < wide.height; ++y) {
    for (int x = 0; x < wide.width; ++x) {
      const Taps& taps = columns[static_cast<size_t>(x)];
      float sums[3] = {};
      const uint8_t* from = picture.at(taps.first, y);
      for (const float weight : taps.weights) {
        for (float& sum : sums) sum += weight * *from++;
      }
      for (int c = 0; c < 3; ++c) wide.at(x, y)[c] = Rounded(sums[c]);
    }
  }
  const std::vector<Taps> rows = TapsOf(wide.height, result.height, filter);
  const size_t row_bytes = static_cast<size_t>(result.width) * 3;
  std::vector<float> sums(row_bytes);
  for (int y = 0; y < result.height; ++y) {
    const Taps& taps = rows[static_cast<size_t>(y)];
    std::ranges::fill(sums, 0.0f);
    for (size_t i = 0; i < taps.weights.size(); ++i) {
      const uint8_t* from = wide.at(0, taps.first + static_cast<int>(i));
      for (size_t b = 0; b < row_bytes; ++b)
        sums[b] += taps.weights[i] * from[b];
    }
    uint8_t* to = result.at(0, y);
    for (size_t b = 0; b < row_bytes; ++b) to[b] = Rounded(sums[b]);
  }
  return result;
}

StatusOr<Picture> Crop(const Picture& picture, int64_t left, int64_t top,
                       int64_t width, int64_t height) {
  EMBER_ASSIGN_OR_RETURN(Picture result, Picture::Make(width, height));
  const int64_t begin = std::clamp<int64_t>(-left, 0, width);
  const int64_t end = std::clamp<int64_t>(picture.width - left, begin, width);
  for (int64_t y = 0; y < height && begin < end; ++y) {
    if (top + y < 0 || top + y >= picture.height) continue;
    std::memcpy(
        result.at(static_cast<int>(begin), static_cast<int>(y)),
        picture.at(static_cast<int>(left + begin), static_cast<int>(top + y)),
        static_cast<size_t>(end - begin) * 3);
  }
  return result;
}

}  // namespace ember::tools
