// Compares the custom operators of MediaPipe's models with their definitions in
// plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

constexpr int32_t kSame = 1, kValid = 2;

std::vector<uint8_t> OptionsOf(const std::vector<int32_t>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(int32_t));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<double> Values(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>((i * 37 + 11) % 29) - 14);
  return values;
}

// Tests a transposed convolution of x [1, 3, 4, 2] to 3 channels, with windows
// of 3x2 and strides of 2 and 3.
TEST(MediaPipe, TransposedConvolutionWithBias) {
  constexpr int kRows = 3, kColumns = 4, kIn = 2, kOut = 3, kHeight = 3,
                kWidth = 2, kDown = 2, kRight = 3;
  const std::vector<double> x = Values(kRows * kColumns * kIn);
  const std::vector<double> w = Values(kOut * kHeight * kWidth * kIn);
  const std::vector<double> bias = {1, -2, 3};
  for (const int32_t padding : {kSame, kValid}) {
    const int cut_rows =
        padding == kSame ? std::max(0, kHeight - 1 - (kRows - 1) % kDown) : 0;
    const int cut_columns =
        padding == kSame ? std::max(0, kWidth - 1 - (kColumns - 1) % kRight)
                         : 0;
    const int rows = kDown * (kRows - 1) + kHeight - cut_rows;
    const int columns = kRight * (kColumns - 1) + kWidth - cut_columns;
    std::vector<double> expected;
    for (int i = 0; i < rows * columns * kOut; ++i)
      expected.push_back(bias[static_cast<size_t>(i % kOut)]);
    for (int r = 0; r < kRows; ++r) {
      for (int c = 0; c < kColumns; ++c) {
        for (int dr = 0; dr < kHeight; ++dr) {
          for (int dc = 0; dc < kWidth; ++dc) {
            const int row = r * kDown - cut_rows / 2 + dr;
            const int column = c * kRight - cut_columns / 2 + dc;
            if (row < 0 || row >= rows || column < 0 || column >= columns)
              continue;
            for (int o = 0; o < kOut; ++o) {
              for (int i = 0; i < kIn; ++i) {
                expected[static_cast<size_t>((row * columns + column) * kOut +
                                             o)] +=
                    x[static_cast<size_t>((r * kColumns + c) * kIn + i)] *
                    w[static_cast<size_t>(
                        ((o * kHeight + dr) * kWidth + dc) * kIn + i)];
              }
            }
          }
        }
      }
    }
    OneOperator op("Convolution2DTransposeBias");
    op.Input(F32({1, kRows, kColumns, kIn}, x));
    op.Constant(F32({kOut, kHeight, kWidth, kIn}, w));
    op.Constant(F32({kOut}, bias));
    op.Output(DType::kF32, {1, rows, columns, kOut});
    op.CustomOptions(OptionsOf({padding, kRight, kDown}));
    ExpectNumbers(op.Run(), {F32({1, rows, columns, kOut}, expected)});
  }
}

// Tests max pooling that also returns the positions of the maxima, and its
// inverse. The windows of 2x2 with SAME padding leave the image of 3x5 at its
// end.
TEST(MediaPipe, PoolingWithPlacesAndBack) {
  constexpr int kRows = 3, kColumns = 5, kDownRows = 2, kDownColumns = 3;
  const std::vector<double> x = Values(kRows * kColumns);
  std::vector<double> greatest, places;
  for (int r = 0; r < kDownRows; ++r) {
    for (int c = 0; c < kDownColumns; ++c) {
      double best = -1e30, place = 0;
      for (int i = 0; i < 4; ++i) {
        const int row = 2 * r + i / 2, column = 2 * c + i % 2;
        if (row >= kRows || column >= kColumns) continue;
        const double value = x[static_cast<size_t>(row * kColumns + column)];
        if (value <= best) continue;
        best = value;
        place = i;
      }
      greatest.push_back(best);
      places.push_back(place + static_cast<double>(0.1f));
    }
  }
  const std::vector<uint8_t> options = OptionsOf({kSame, 2, 2, 2, 2, 0, 0, 0});
  OneOperator pool("MaxPoolingWithArgmax2D");
  pool.Input(F32({1, kRows, kColumns, 1}, x));
  pool.Output(DType::kF32, {1, kDownRows, kDownColumns, 1});
  pool.Output(DType::kF32, {1, kDownRows, kDownColumns, 1});
  pool.CustomOptions(options);
  ExpectNumbers(pool.Run(), {F32({1, kDownRows, kDownColumns, 1}, greatest),
                             F32({1, kDownRows, kDownColumns, 1}, places)});

  std::vector<double> expected(16, 0);
  const std::vector<double> values = {5, -6, 7, 8};
  const std::vector<double> where = {0.1, 3.1, 2.1, 1.1};
  const size_t at[] = {0, 7, 12, 11};
  for (size_t i = 0; i < 4; ++i) expected[at[i]] = values[i];
  OneOperator back("MaxUnpooling2D");
  back.Input(F32({1, 2, 2, 1}, values)).Input(F32({1, 2, 2, 1}, where));
  back.Output(DType::kF32, {1, 4, 4, 1});
  back.CustomOptions(options);
  ExpectNumbers(back.Run(), {F32({1, 4, 4, 1}, expected)});
}

TEST(MediaPipe, OptionsThatDoNotFit) {
  const auto error_of = [](const std::vector<uint8_t>& options) {
    OneOperator back("MaxUnpooling2D");
    back.Input(F32({1, 1, 1, 1}, {1})).Input(F32({1, 1, 1, 1}, {0}));
    back.Output(DType::kF32, {1, 2, 2, 1});
    back.CustomOptions(options);
    const auto results = back.Run();
    return results.ok() ? "" : std::string(results.status().message());
  };
  EXPECT_NE(error_of({1, 0, 0}).find("custom options: expected at least 6 "
                                     "integers of 32 bits, found 3 bytes"),
            std::string::npos);
  EXPECT_NE(error_of(OptionsOf({0, 2, 2, 2, 2, 0})).find("padding"),
            std::string::npos);
  EXPECT_NE(error_of(OptionsOf({1, 2, 2, 3, 2, 0}))
                .find("expected strides as large as the window, found 2 and 2 "
                      "for 2x3"),
            std::string::npos);
}

}  // namespace
}  // namespace ember::tests
