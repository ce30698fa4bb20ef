// Compares Fourier transforms, and the complex numbers that they give, with
// sums in plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "frontends/tflite/testing/model_builder.h"
#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using schema::TensorType;
using tflite::ModelBuilder;

// Returns the two-dimensional Fourier transform of a real matrix, without the
// half that symmetry gives. The matrix is first cut or filled up with zeros.
std::vector<std::complex<double>> SpectrumOf(const std::vector<double>& x,
                                             int rows, int columns, int to_rows,
                                             int to_columns) {
  std::vector<std::complex<double>> spectrum;
  for (int u = 0; u < to_rows; ++u) {
    for (int v = 0; v <= to_columns / 2; ++v) {
      std::complex<double> sum = 0;
      for (int i = 0; i < std::min(rows, to_rows); ++i) {
        for (int j = 0; j < std::min(columns, to_columns); ++j) {
          const double phase = static_cast<double>(u * i) / to_rows +
                               static_cast<double>(v * j) / to_columns;
          sum += x[static_cast<size_t>(i * columns + j)] *
                 std::polar(1.0, -2 * M_PI * phase);
        }
      }
      spectrum.push_back(sum);
    }
  }
  return spectrum;
}

TEST(Signal, PartsOfASpectrum) {
  constexpr int kRows = 3, kColumns = 6;
  std::vector<double> x;
  for (int i = 0; i < kRows * kColumns; ++i) x.push_back((i * 7) % 5 - 1.5);
  const std::pair<int, int> lengths[] = {{1, 8}, {4, 8}, {2, 4}};
  for (const auto& [rows, columns] : lengths) {
    const int bins = columns / 2 + 1;
    ModelBuilder m;
    const int in = m.Input({.shape = {1, kRows, kColumns}});
    const int size = m.Constant({.type = TensorType::INT32, .shape = {2}},
                                std::vector<int32_t>{rows, columns});
    const int whole =
        m.Tensor({.type = TensorType::COMPLEX64, .shape = {1, rows, bins}});
    const int flat =
        m.Tensor({.type = TensorType::COMPLEX64, .shape = {rows * bins}});
    const int shape = m.Constant({.type = TensorType::INT32, .shape = {1}},
                                 std::vector<int32_t>{-1});
    const int real = m.Output({.shape = {rows * bins}});
    const int imaginary = m.Output({.shape = {rows * bins}});
    const int size_of = m.Output({.shape = {rows * bins}});
    m.Operator(Code::RFFT2D, {in, size}, {whole});
    m.Operator(Code::RESHAPE, {whole, shape}, {flat});
    m.Operator(Code::REAL, {flat}, {real});
    m.Operator(Code::IMAG, {flat}, {imaginary});
    m.Operator(Code::COMPLEX_ABS, {flat}, {size_of});
    std::vector<double> reals, imaginaries, sizes;
    for (const std::complex<double>& value :
         SpectrumOf(x, kRows, kColumns, rows, columns)) {
      reals.push_back(value.real());
      imaginaries.push_back(value.imag());
      sizes.push_back(std::abs(value));
    }
    const int64_t count = rows * bins;
    ExpectNumbers(
        RunFile(m.Finish(), {F32({1, kRows, kColumns}, x)}),
        {F32({count}, reals), F32({count}, imaginaries), F32({count}, sizes)});
  }
}

// Complex inputs and results of a model are real tensors with an additional
// last dim of 2, for the real and the imaginary part.
TEST(Signal, ComplexInputsAndResults) {
  ModelBuilder m;
  const int in = m.Input({.type = TensorType::COMPLEX64, .shape = {2, 2}});
  const int order = m.Constant({.type = TensorType::INT32, .shape = {2}},
                               std::vector<int32_t>{1, 0});
  const int out = m.Output({.type = TensorType::COMPLEX64, .shape = {2, 2}});
  m.Operator(Code::TRANSPOSE, {in, order}, {out});
  ExpectNumbers(
      RunFile(m.Finish(), {F32({2, 2, 2}, {1, -1, 2, -2, 3, -3, 4, -4})}),
      {F32({2, 2, 2}, {1, -1, 3, -3, 2, -2, 4, -4})});
}

TEST(Signal, WhereComplexNumbersAreNot) {
  ModelBuilder m;
  const int in = m.Input({.shape = {1, 4}});
  const int size = m.Constant({.type = TensorType::INT32, .shape = {2}},
                              std::vector<int32_t>{1, 4});
  const int spectrum =
      m.Tensor({.type = TensorType::COMPLEX64, .shape = {1, 3}});
  m.Operator(Code::RFFT2D, {in, size}, {spectrum});
  m.Operator(Code::EXP, {spectrum}, {m.Output({.shape = {1, 3}, .name = "y"})});
  const auto results = RunFile(m.Finish(), {F32({1, 4}, {1, 2, 3, 4})});
  ASSERT_FALSE(results.ok());
  EXPECT_NE(results.status().message().find(
                "node 'y (EXP)': complex numbers are not supported here"),
            std::string_view::npos)
      << results.status().message();
}

}  // namespace
}  // namespace ember::tests
