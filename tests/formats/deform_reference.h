// Computes a deformable convolution by plain loops, for the tests of every
// format that has one: operands and the expected result.
//
//   const DeformExample example(/*sharp_border=*/false, /*is_masked=*/true);
//   ExpectNumbers(op.Input(example.x)…Run(), {example.Expected()});
#ifndef EMBER_TESTS_FORMATS_DEFORM_REFERENCE_H_
#define EMBER_TESTS_FORMATS_DEFORM_REFERENCE_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/formats/detection_reference.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

// An example with strides (2, 1), padding (1, 2), dilations (1, 2), two groups,
// and two groups of offsets that reach beyond the image.
struct DeformExample {
  static constexpr int kImages = 2, kChannels = 4, kHeight = 6, kWidth = 5;
  // Number of output channels, and height and width of the window.
  static constexpr int kResults = 6, kRows = 2, kColumns = 3;
  static constexpr int kOutHeight = 4, kOutWidth = 5;
  static constexpr int kElements = kRows * kColumns, kGroups = 2;

  DeformExample(bool has_sharp_border, bool has_mask)
      : sharp_border(has_sharp_border), is_masked(has_mask) {
    ReferenceRandom random;
    const auto many = [&](std::vector<int64_t> dims, double low, double high) {
      int64_t count = 1;
      for (const int64_t dim : dims) count *= dim;
      return F32(std::move(dims),
                 random.Many(static_cast<size_t>(count), low, high));
    };
    x = many({kImages, kChannels, kHeight, kWidth}, -1, 1);
    w = many({kResults, kChannels / kGroups, kRows, kColumns}, -1, 1);
    offsets = many({kImages, kGroups * kElements * 2, kOutHeight, kOutWidth},
                   -2.5, 2.5);
    mask = many({kImages, kGroups * kElements, kOutHeight, kOutWidth}, 0, 1);
    bias = many({kResults}, -1, 1);
  }

  // Returns the image's value at a point between elements, interpolated
  // bilinearly.
  double Sampled(int image, int channel, double y, double x_place) const {
    const FeatureMap map{x.values, kChannels, kHeight, kWidth};
    if (sharp_border) {
      if (y < 0 || x_place < 0 || y >= kHeight || x_place >= kWidth) return 0;
      return map.Sampled(image, channel, y, x_place);
    }
    double sum = 0;
    for (int row = 0; row < kHeight; ++row) {
      for (int column = 0; column < kWidth; ++column) {
        sum += std::max(0.0, 1 - std::abs(y - row)) *
               std::max(0.0, 1 - std::abs(x_place - column)) *
               map.At(image, channel, row, column);
      }
    }
    return sum;
  }

  // Returns the element (row, column) of output channel `out` by the definition
  // of the deformable convolution.
  double ResultAt(int image, int out, int row, int column) const {
    const int per_group = kChannels / kGroups;
    const int first = out / (kResults / kGroups) * per_group;
    double sum = bias.values[static_cast<size_t>(out)];
    for (int c = 0; c < per_group; ++c) {
      const int channel = first + c;
      for (int element = 0; element < kElements; ++element) {
        const int number = channel / per_group * kElements + element;
        const auto computed = [&](const Numbers& of, int at) {
          const auto channels = static_cast<int>(of.dims[1]);
          return of.values[static_cast<size_t>(
              ((image * channels + at) * kOutHeight + row) * kOutWidth +
              column)];
        };
        const double y =
            row * 2 - 1 + element / kColumns + computed(offsets, number * 2);
        const double x_place = column - 2 + element % kColumns * 2 +
                               computed(offsets, number * 2 + 1);
        const double weight = w.values[static_cast<size_t>(
            (out * per_group + c) * kElements + element)];
        sum += weight * (is_masked ? computed(mask, number) : 1) *
               Sampled(image, channel, y, x_place);
      }
    }
    return sum;
  }

  Numbers Expected() const {
    Values values;
    for (int image = 0; image < kImages; ++image)
      for (int out = 0; out < kResults; ++out)
        for (int row = 0; row < kOutHeight; ++row)
          for (int column = 0; column < kOutWidth; ++column)
            values.push_back(ResultAt(image, out, row, column));
    return F32({kImages, kResults, kOutHeight, kOutWidth}, values);
  }

  bool sharp_border, is_masked;
  Numbers x, w, offsets, mask, bias;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_FORMATS_DEFORM_REFERENCE_H_
