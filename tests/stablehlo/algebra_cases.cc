// Makes the cases of matrix products, convolutions, normalization,
// decompositions and transforms.
#include <cmath>

#include "tests/stablehlo/operator_cases.h"

namespace ember::tests {
namespace {

void AddProducts(std::vector<OperatorCase>& cases) {
  cases.push_back(
      {"%r = stablehlo.dot %a, %b, precision = [DEFAULT, HIGHEST] "
       ": (%A, %B) -> %T",
       {F32({2, 2}, {1, 2, 3, 4}), F32({2}, {5, 6})},
       {F32({2}, {17, 39})}});
  cases.push_back(
      {"%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], "
       "contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : "
       "(%A, %B) -> %T",
       {F32({2, 1, 2}, {1, 2, 3, 4}), F32({2, 2, 1}, {5, 6, 7, 8})},
       {F32({2, 1, 1}, {19, 50})}});
  // The result's type is wider than the operands' (i32 and i8). Sums must be
  // computed in the result's type, or they overflow.
  cases.push_back({R"(
      %r = "stablehlo.dot_general"(%a, %b) {
        dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>,
        precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
      } : (%A, %B) -> %T)",
                   {I8({2}, {100, 100}), I8({2}, {100, -1})},
                   {I32({}, {9900})}});
  cases.push_back(
      {"%r = stablehlo.einsum %a, %b, config = \"ij,jk->ki\" : (%A, %B) -> %T",
       {F32({1, 2}, {1, 2}), F32({2, 2}, {3, 4, 5, 6})},
       {F32({2, 1}, {13, 16})}});
}

void AddConvolutions(std::vector<OperatorCase>& cases) {
  cases.push_back({R"(
      %r = stablehlo.convolution(%a, %b)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [1, 2], pad = [[0, 0], [1, 0]], rhs_dilate = [1, 1]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64,
         precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}
        : (%A, %B) -> %T)",
                   {F32({1, 1, 3, 1}, {1, 2, 3}), F32({1, 2, 1, 1}, {10, 1})},
                   {F32({1, 1, 2, 1}, {1, 23})}});
  // The specification's example of a convolution: it is dilated, and the window
  // is reversed.
  cases.push_back({R"(
      %r = "stablehlo.convolution"(%a, %b) {
        window_strides = array<i64: 4, 4>, padding = dense<0> : tensor<2x2xi64>,
        lhs_dilation = array<i64: 2, 2>, rhs_dilation = array<i64: 1, 1>,
        window_reversal = array<i1: false, false>,
        dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
        batch_group_count = 1 : i64, feature_group_count = 1 : i64,
        precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]
      } : (%A, %B) -> %T)",
                   {I32({1, 4, 4, 1}, {1, 2, 5, 6, 3, 4, 7, 8, 10, 11, 14, 15,
                                       12, 13, 16, 17}),
                    I32({3, 3, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1})},
                   {I32({1, 2, 2, 1}, {10, 26, 46, 62})}});
  cases.push_back(
      {R"(
      %r = stablehlo.convolution(%a, %b)
        dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
        window = {pad = [[-1, 2]], lhs_dilate = [2], rhs_dilate = [2], reverse = [true]}
        {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (%A, %B) -> %T)",
       {F32({1, 2, 2}, {1, 2, 3, 4}), F32({2, 1, 2}, {10, 1, 5, 7})},
       // For the two groups of channels: the operand with padding is 0 2 0 0
       // and 0 4 0 0. The reversed windows are 1 . 10 and 7 . 5, where a dot is
       // a gap that rhs_dilate makes.
       {F32({1, 2, 2}, {0, 2, 0, 28})}});
  // The convolution has batch groups: the first half of the batch makes the
  // first output feature.
  cases.push_back({R"(
      %r = stablehlo.convolution(%a, %b)
        dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
        {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (%A, %B) -> %T)",
                   {F32({2, 1, 2}, {1, 2, 3, 4}), F32({1, 2, 2}, {1, 2, 3, 4})},
                   // The results of the two batch groups are 1 * 1 + 2 * 3 and
                   // 3 * 2 + 4 * 4.
                   {F32({1, 1, 2}, {7, 22})}});
  cases.push_back({R"(
      %r = stablehlo.convolution(%a, %b)
        dim_numbers = [b, f]x[i, o]->[f, b], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (%A, %B) -> %T)",
                   {F32({2, 2}, {1, 2, 3, 4}), F32({2, 1}, {1, 10})},
                   {F32({1, 2}, {21, 43})}});
  cases.push_back({R"(
      %p = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
      %r = "stablehlo.dynamic_conv"(%a, %b, %p) {
        dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
        batch_group_count = 1 : i64, feature_group_count = 1 : i64
      } : (%A, %B, tensor<1x2xi64>) -> %T)",
                   {F32({1, 2, 1}, {1, 2}), F32({2, 1, 1}, {10, 1})},
                   {F32({1, 2, 1}, {1, 12})}});
}

void AddNormalization(std::vector<OperatorCase>& cases) {
  cases.push_back({R"(
      %r = "stablehlo.batch_norm_inference"(%a, %b, %b, %c, %b) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (%A, %B, %B, tensor<2xf32>, %B) -> %T)",
                   {F32({1, 2}, {5, 6}), F32({2}, {1, 4}), F32({2}, {2, 2})},
                   {F32({1, 2}, {4, 12})}});
  // In training the operator normalizes by the batch's mean and variance, and
  // returns them: for the elements 1 and 3 they are 2 and 1.
  cases.push_back({R"(
      %r:3 = "stablehlo.batch_norm_training"(%a, %b, %b) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (%A, %B, %B) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>))",
                   {F32({2, 1}, {1, 3}), F32({1}, {5})},
                   {F32({2, 1}, {0, 10}), F32({1}, {2}), F32({1}, {1})}});
  // The expected gradients for 1, 3 and 5 are derived from the training's
  // formula: s (g - mean(g) - n mean(g n)) / d, where d² is the variance.
  const double d = std::sqrt(8.0 / 3), n = 2 / d;
  const double mean = (1 + 2 + 4) / 3.0, product = (4 * n - 1 * n) / 3;
  cases.push_back(
      {R"(
      %r:3 = "stablehlo.batch_norm_grad"(%a, %b, %c, %d, %e) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (%A, %B, tensor<1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>))",
       {F32({3, 1}, {1, 3, 5}), F32({1}, {2}), F32({1}, {3}),
        F32({1}, {8.0 / 3}), F32({3, 1}, {1, 2, 4})},
       {F32({3, 1}, {2 / d * (1 - mean + n * product), 2 / d * (2 - mean),
                     2 / d * (4 - mean - n * product)}),
        F32({1}, {3 * n}), F32({1}, {7})}});
}

void AddFactors(std::vector<OperatorCase>& cases) {
  const Numbers positive = F32({3, 3}, {1, 2, 3, 2, 20, 26, 3, 26, 70});
  cases.push_back({"%r = stablehlo.cholesky %a, lower = true : %A",
                   {positive},
                   {F32({3, 3}, {1, 0, 0, 2, 4, 0, 3, 5, 6})}});
  cases.push_back({"%r = stablehlo.cholesky %a, lower = false : %A",
                   {positive},
                   {F32({3, 3}, {1, 2, 3, 0, 4, 5, 0, 0, 6})}});
  const auto solve = [](const std::string& attributes) {
    return "%r = \"stablehlo.triangular_solve\"(%a, %b) {" + attributes +
           "} : (%A, %B) -> %T";
  };
  const Numbers lower = F32({3, 3}, {1, 9, 9, 2, 4, 9, 3, 5, 6});
  cases.push_back({solve("left_side = true, lower = true, unit_diagonal = "
                         "false, transpose_a = #stablehlo<transpose "
                         "NO_TRANSPOSE>"),
                   {lower, F32({3, 1}, {1, 10, 31})},
                   {F32({3, 1}, {1, 2, 3})}});
  // The transposed matrix is used: the case solves [1 2 3; 0 4 5; 0 0 6] x = b.
  cases.push_back(
      {solve("left_side = true, lower = true, unit_diagonal = "
             "false, transpose_a = #stablehlo<transpose TRANSPOSE>"),
       {lower, F32({3, 1}, {14, 23, 18})},
       {F32({3, 1}, {1, 2, 3})}});
  // The case solves x [1 . .; 2 1 .; 3 5 1] = b. With unit_diagonal the
  // elements on the diagonal count as ones, whatever they are.
  cases.push_back({solve("left_side = false, lower = true, unit_diagonal = "
                         "true, transpose_a = #stablehlo<transpose "
                         "NO_TRANSPOSE>"),
                   {lower, F32({1, 3}, {14, 17, 3})},
                   {F32({1, 3}, {1, 2, 3})}});
}

void AddTransforms(std::vector<OperatorCase>& cases) {
  const std::string spectrum =
      "%f = stablehlo.fft %a, type = RFFT, length = [4] : (%A) -> "
      "tensor<3xcomplex<f32>>\n";
  const Numbers x = F32({4}, {1, 2, 4, 3});
  cases.push_back({spectrum +
                       "%r = stablehlo.real %f : (tensor<3xcomplex<f32>>) -> "
                       "%T",
                   {x},
                   {F32({3}, {10, -3, 0})}});
  cases.push_back({spectrum +
                       "%r = stablehlo.imag %f : (tensor<3xcomplex<f32>>) -> "
                       "%T",
                   {x},
                   {F32({3}, {0, 1, 0})}});
  cases.push_back({spectrum +
                       "%r = stablehlo.fft %f, type = IRFFT, length = [4] : "
                       "(tensor<3xcomplex<f32>>) -> %T",
                   {x},
                   {x}});
  // The case is a Fourier transform of two dims, followed by the inverse
  // transform.
  cases.push_back({R"(
      %c = stablehlo.convert %a : (%A) -> tensor<2x3xcomplex<f32>>
      %f = stablehlo.fft %c, type = FFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
      %g = stablehlo.fft %f, type = IFFT, length = [2, 3] : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
      %r = stablehlo.real %g : (tensor<2x3xcomplex<f32>>) -> %T)",
                   {F32({2, 3}, {1, 2, 4, 3, 0, 5})},
                   {F32({2, 3}, {1, 2, 4, 3, 0, 5})}});
}

}  // namespace

std::vector<OperatorCase> AlgebraCases() {
  std::vector<OperatorCase> cases;
  AddProducts(cases);
  AddConvolutions(cases);
  AddNormalization(cases);
  AddFactors(cases);
  AddTransforms(cases);
  return cases;
}

}  // namespace ember::tests
