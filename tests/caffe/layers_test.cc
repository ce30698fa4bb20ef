// Tests layers against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

TEST(Layers, FunctionsOfEachElement) {
  struct Case {
    std::string layer;
    std::function<double(double)> f;
    bool positive = false;
  };
  const Case cases[] = {
      {R"(type: "AbsVal")", [](double x) { return std::abs(x); }},
      {R"(type: "BNLL")", [](double x) { return std::log1p(std::exp(x)); }},
      {R"(type: "Clip" clip_param { min: -0.5 max: 1.5 })",
       [](double x) { return std::clamp(x, -0.5, 1.5); }},
      {R"(type: "Dropout" dropout_param { dropout_ratio: 0.3 })",
       [](double x) { return x; }},
      {R"(type: "Dropout" dropout_param { dropout_ratio: 0.25
                                          scale_train: false })",
       [](double x) { return 0.75 * x; }},
      {R"(type: "ELU" elu_param { alpha: 0.5 })",
       [](double x) { return x > 0 ? x : 0.5 * (std::exp(x) - 1); }},
      {R"(type: "Exp" exp_param { base: 2 scale: 3 shift: 0.5 })",
       [](double x) { return std::pow(2, 0.5 + 3 * x); }},
      {R"(type: "Exp")", [](double x) { return std::exp(x); }},
      {R"(type: "Log" log_param { base: 10 scale: 2 shift: 1 })",
       [](double x) { return std::log10(1 + 2 * x); }, true},
      {R"(type: "Mish")",
       [](double x) { return x * std::tanh(std::log1p(std::exp(x))); }},
      {R"(type: "Power" power_param { power: 3 scale: 0.5 shift: 4 })",
       [](double x) { return std::pow(4 + 0.5 * x, 3); }},
      {R"(type: "Power" power_param { power: 2 shift: -1 })",
       [](double x) { return (x - 1) * (x - 1); }},
      {R"(type: "ReLU")", [](double x) { return std::max(x, 0.0); }},
      {R"(type: "ReLU" relu_param { negative_slope: 0.1 engine: CAFFE })",
       [](double x) { return x > 0 ? x : 0.1 * x; }},
      {R"(type: "ReLU6")", [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {R"(type: "Sigmoid")", SigmoidOf},
      {R"(type: "Split")", [](double x) { return x; }},
      {R"(type: "Swish" swish_param { beta: 2 })",
       [](double x) { return x * SigmoidOf(2 * x); }},
      {R"(type: "TanH")", [](double x) { return std::tanh(x); }},
      {R"(type: "Threshold" threshold_param { threshold: 0.25 })",
       [](double x) { return x > 0.25 ? 1.0 : 0.0; }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.layer);
    Numbers x = SequenceOf({2, 3, 4});
    if (c.positive)
      for (double& value : x.values) value = std::abs(value);
    Numbers y = x;
    for (double& value : y.values) value = c.f(value);
    ExpectNumbers(RunLayer(c.layer, {x}), {y});
  }
}

TEST(Layers, PReluPerChannelAndShared) {
  const Numbers x = SequenceOf({2, 3, 2});
  const TestBlob slopes = BlobOf({3});
  Numbers y = x, shared = x;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const double v = x.values[i];
    y.values[i] = v > 0 ? v : v * slopes.values[i / 2 % 3];
    shared.values[i] = v > 0 ? v : v * 0.125;
  }
  ExpectNumbers(RunLayer(R"(type: "PReLU")", {x}, {slopes}), {y});
  ExpectNumbers(
      RunLayer(R"(type: "PReLU" prelu_param { channel_shared: true })", {x},
               {{{1}, {0.125f}}}),
      {shared});
}

TEST(Layers, InnerProduct) {
  const Numbers x = SequenceOf({2, 3, 2});
  const TestBlob w = BlobOf({4, 6}), b = BlobOf({4});
  Numbers y = F32({2, 4}, {});
  for (size_t n = 0; n < 2; ++n)
    for (size_t o = 0; o < 4; ++o) {
      double sum = b.values[o];
      for (size_t i = 0; i < 6; ++i)
        sum += x.values[n * 6 + i] * w.values[o * 6 + i];
      y.values.push_back(sum);
    }
  const std::string layer =
      R"(type: "InnerProduct" inner_product_param { num_output: 4 )";
  ExpectNumbers(RunLayer(layer + "}", {x}, {w, b}), {y});
  // Old files store the weights with four dims, of which the first two are 1;
  // the result must be the same.
  TestBlob old = w;
  old.dims = {1, 1, 4, 6};
  ExpectNumbers(RunLayer(layer + "}", {x}, {old, b}), {y});
  TestBlob transposed{{6, 4}, {}};
  for (size_t i = 0; i < 6; ++i)
    for (size_t o = 0; o < 4; ++o)
      transposed.values.push_back(w.values[o * 6 + i]);
  ExpectNumbers(RunLayer(layer + "transpose: true }", {x}, {transposed, b}),
                {y});
  // If the axis is -1, the layer multiplies each row of the last axis by the
  // weights.
  ExpectNumbers(RunLayer(R"(type: "InnerProduct" inner_product_param {
      num_output: 1 axis: -1 bias_term: false })",
                         {F32({2, 1, 2}, {1, 2, 3, 4})}, {{{1, 2}, {10, 1}}}),
                {F32({2, 1, 1}, {12, 34})});
}

TEST(Layers, BatchNormAndItsForks) {
  const Numbers x = SequenceOf({2, 2, 3});
  const TestBlob mean{{2}, {1, -3}}, variance{{2}, {4, 8}}, factor{{1}, {2}};
  Numbers y = x;
  for (size_t i = 0; i < y.values.size(); ++i) {
    const size_t c = i / 3 % 2;
    y.values[i] = (x.values[i] - mean.values[c] / 2) /
                  std::sqrt(variance.values[c] / 2 + 0.01);
  }
  ExpectNumbers(RunLayer(R"(type: "BatchNorm" batch_norm_param { eps: 0.01 })",
                         {x}, {mean, variance, factor}),
                {y});
  // The third blob of BatchNorm divides mean and variance. If it is 0, both
  // count as 0, so x is only divided by sqrt(eps).
  Numbers zero = x;
  for (double& value : zero.values) value /= std::sqrt(1e-5);
  ExpectNumbers(
      RunLayer(R"(type: "BatchNorm")", {x}, {mean, variance, {{1}, {0}}}),
      {zero});
  Numbers own = x;
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0, squares = 0;
    for (size_t n = 0; n < 2; ++n)
      for (size_t i = 0; i < 3; ++i) sum += x.values[(n * 2 + c) * 3 + i] / 6;
    for (size_t n = 0; n < 2; ++n)
      for (size_t i = 0; i < 3; ++i)
        squares += std::pow(x.values[(n * 2 + c) * 3 + i] - sum, 2) / 6;
    for (size_t n = 0; n < 2; ++n)
      for (size_t i = 0; i < 3; ++i)
        own.values[(n * 2 + c) * 3 + i] =
            (x.values[(n * 2 + c) * 3 + i] - sum) / std::sqrt(squares + 1e-5);
  }
  ExpectNumbers(RunLayer(R"(type: "BatchNorm" batch_norm_param {
      use_global_stats: false moving_average_fraction: 0.9 })",
                         {x}),
                {own});
  Numbers bn = x;
  for (size_t i = 0; i < bn.values.size(); ++i) {
    const size_t c = i / 3 % 2;
    const double scale[] = {2, 3}, bias[] = {0.5, -1};
    bn.values[i] = (x.values[i] - mean.values[c]) /
                       std::sqrt(variance.values[c] + 0.5) * scale[c] +
                   bias[c];
  }
  ExpectNumbers(
      RunLayer(R"(type: "BN" bn_param { eps: 0.5 })", {x},
               {{{1, 2, 1, 1}, {2, 3}}, {{2}, {0.5, -1}}, mean, variance}),
      {bn});
}

TEST(Layers, ScaleAndBias) {
  const Numbers x = SequenceOf({2, 3, 2});
  const TestBlob w = BlobOf({3}), b{{3}, {5, 6, 7}};
  Numbers scaled = x, biased = x, both = x;
  for (size_t i = 0; i < x.values.size(); ++i) {
    const size_t c = i / 2 % 3;
    scaled.values[i] = x.values[i] * w.values[c];
    both.values[i] = scaled.values[i] + b.values[c];
    biased.values[i] = x.values[i] + b.values[c];
  }
  ExpectNumbers(RunLayer(R"(type: "Scale")", {x}, {w}), {scaled});
  ExpectNumbers(
      RunLayer(R"(type: "Scale" scale_param { bias_term: true })", {x}, {w, b}),
      {both});
  ExpectNumbers(RunLayer(R"(type: "Bias")", {x}, {b}), {biased});
  const Numbers second = F32({3}, {5, 6, 7});
  ExpectNumbers(RunLayer(R"(type: "Bias")", {x, second}), {biased});
  // `rows` expects a scale for each index of the first axis, `all` a scale for
  // each element (x itself), and `one` a single scale for all.
  Numbers rows = x, all = x, one = x;
  for (size_t i = 0; i < x.values.size(); ++i) {
    rows.values[i] *= i < 6 ? 2 : 3;
    all.values[i] *= x.values[i];
    one.values[i] *= 4;
  }
  ExpectNumbers(RunLayer(R"(type: "Scale" scale_param { axis: 0 })",
                         {x, F32({2}, {2, 3})}),
                {rows});
  ExpectNumbers(RunLayer(R"(type: "Scale" scale_param { axis: 0 })", {x, x}),
                {all});
  ExpectNumbers(RunLayer(R"(type: "Scale" scale_param { num_axes: 0 })", {x},
                         {{{}, {4}}}),
                {one});
}

TEST(Layers, MvnAndNormalize) {
  const Numbers x = F32({1, 2, 1, 2}, {1, 3, -2, 4});
  ExpectNumbers(RunLayer(R"(type: "MVN" mvn_param { eps: 0.5 })", {x}),
                {F32({1, 2, 1, 2}, {-1 / 1.5, 1 / 1.5, -3 / 3.5, 3 / 3.5})});
  ExpectNumbers(RunLayer(R"(type: "MVN" mvn_param { across_channels: true
                            normalize_variance: false })",
                         {x}),
                {F32({1, 2, 1, 2}, {-0.5, 1.5, -3.5, 2.5})});
  const double norm = std::sqrt(30.0);
  ExpectNumbers(
      RunLayer(R"(type: "Normalize" norm_param { channel_shared: false })", {x},
               {{{2}, {2, 3}}}),
      {F32({1, 2, 1, 2}, {2 / norm, 6 / norm, -6 / norm, 12 / norm})});
  ExpectNumbers(
      RunLayer(R"(type: "Normalize" norm_param {
      across_spatial: false scale_filler { type: "constant" value: 10 } })",
               {x}),
      {F32({1, 2, 1, 2}, {10 / std::sqrt(5.0), 6, -20 / std::sqrt(5.0), 8})});
}

TEST(Layers, SoftmaxAndReductions) {
  const Numbers x = F32({1, 2, 2}, {1, 2, 3, 4});
  const double low = 1 / (1 + std::exp(2.0)), high = 1 - low;
  ExpectNumbers(RunLayer(R"(type: "Softmax")", {x}),
                {F32({1, 2, 2}, {low, low, high, high})});
  ExpectNumbers(RunLayer(R"(type: "Reduction")", {x}), {F32({}, {10})});
  ExpectNumbers(RunLayer(R"(type: "Reduction" reduction_param {
      operation: MEAN axis: 1 coeff: 2 })",
                         {x}),
                {F32({1}, {5})});
  const Numbers mixed = F32({1, 2}, {-1, 2});
  ExpectNumbers(
      RunLayer(R"(type: "Reduction" reduction_param { operation: ASUM })",
               {mixed}),
      {F32({}, {3})});
  ExpectNumbers(RunLayer(R"(type: "Reduction" reduction_param {
      operation: SUMSQ axis: -1 })",
                         {mixed}),
                {F32({1}, {5})});
}

TEST(Layers, ArgMaxTakesTheLastOfEqualOnes) {
  const Numbers x = F32({2, 3}, {1, 5, 5, 7, 2, 3});
  ExpectNumbers(RunLayer(R"(type: "ArgMax")", {x}), {F32({2, 1, 1}, {2, 0})});
  ExpectNumbers(RunLayer(R"(type: "ArgMax" argmax_param { top_k: 2 })", {x}),
                {F32({2, 1, 2}, {2, 1, 0, 2})});
  ExpectNumbers(RunLayer(R"(type: "ArgMax" argmax_param { top_k: 2
                            out_max_val: true })",
                         {x}),
                {F32({2, 2, 2}, {2, 1, 5, 5, 0, 2, 7, 3})});
  ExpectNumbers(RunLayer(R"(type: "ArgMax" argmax_param { axis: 1 })", {x}),
                {F32({2, 1}, {2, 0})});
  ExpectNumbers(RunLayer(R"(type: "ArgMax" argmax_param { axis: 0 top_k: 2
                            out_max_val: true })",
                         {x}),
                {F32({2, 3}, {7, 5, 5, 1, 2, 3})});
}

TEST(Layers, SeveralBottoms) {
  const Numbers a = F32({1, 2}, {1, -2}), b = F32({1, 2}, {3, 4});
  ExpectNumbers(RunLayer(R"(type: "Eltwise")", {a, b, b}),
                {F32({1, 2}, {7, 6})});
  ExpectNumbers(RunLayer(R"(type: "Eltwise" eltwise_param { coeff: 2
                            coeff: -1 })",
                         {a, b}),
                {F32({1, 2}, {-1, -8})});
  ExpectNumbers(
      RunLayer(R"(type: "Eltwise" eltwise_param { operation: PROD })", {a, b}),
      {F32({1, 2}, {3, -8})});
  ExpectNumbers(
      RunLayer(R"(type: "Eltwise" eltwise_param { operation: MAX })", {a, b}),
      {F32({1, 2}, {3, 4})});
  ExpectNumbers(RunLayer(R"(type: "Concat")", {a, b}),
                {F32({1, 4}, {1, -2, 3, 4})});
  ExpectNumbers(
      RunLayer(R"(type: "Concat" concat_param { concat_dim: 0 })", {a, b}),
      {F32({2, 2}, {1, -2, 3, 4})});
  ExpectNumbers(RunLayer(R"(type: "Axpy")", {F32({1, 2}, {10, 100}),
                                             F32({1, 2, 1, 2}, {1, 2, 3, 4}),
                                             F32({1, 2, 1, 2}, {5, 6, 7, 8})}),
                {F32({1, 2, 1, 2}, {15, 26, 307, 408})});
  ExpectNumbers(RunLayer(R"(type: "Crop" crop_param { axis: 1 offset: 1 })",
                         {F32({1, 3}, {1, 2, 3}), F32({1, 2}, {0, 0})}),
                {F32({1, 2}, {2, 3})});
  ExpectNumbers(RunLayer(R"(type: "BatchReindex")",
                         {F32({2, 2}, {1, 2, 3, 4}), F32({3}, {1, 0, 1})}),
                {F32({3, 2}, {3, 4, 1, 2, 3, 4})});
}

TEST(Layers, Movement) {
  const Numbers x = SequenceOf({2, 3, 4});
  auto shaped = [&](std::vector<int64_t> dims) {
    return F32(std::move(dims), x.values);
  };
  ExpectNumbers(RunLayer(R"(type: "Flatten")", {x}), {shaped({2, 12})});
  ExpectNumbers(
      RunLayer(R"(type: "Flatten" flatten_param { axis: 0 end_axis: 1 })", {x}),
      {shaped({6, 4})});
  ExpectNumbers(RunLayer(R"(type: "Reshape" reshape_param {
      shape { dim: 0 dim: -1 dim: 2 dim: 2 } })",
                         {x}),
                {shaped({2, 3, 2, 2})});
  ExpectNumbers(RunLayer(R"(type: "Reshape" reshape_param {
      shape { dim: 2 dim: 2 } axis: -2 num_axes: 1 })",
                         {x}),
                {shaped({2, 3, 2, 2})});
  Numbers permuted = F32({4, 2, 3}, {});
  for (size_t k = 0; k < 4; ++k)
    for (size_t i = 0; i < 6; ++i)
      permuted.values.push_back(x.values[i * 4 + k]);
  ExpectNumbers(RunLayer(R"(type: "Permute" permute_param { order: 2 })", {x}),
                {permuted});
  ExpectNumbers(RunLayer(R"(type: "Slice" slice_param { slice_point: 1 })",
                         {F32({1, 3}, {1, 2, 3})}, {}, 2),
                {F32({1, 1}, {1}), F32({1, 2}, {2, 3})});
  ExpectNumbers(RunLayer(R"(type: "Slice" slice_param { slice_dim: 0 })",
                         {F32({2, 1}, {1, 2})}, {}, 2),
                {F32({1, 1}, {1}), F32({1, 1}, {2})});
  ExpectNumbers(RunLayer(R"(type: "Tile" tile_param { tiles: 2 })",
                         {F32({2, 2}, {1, 2, 3, 4})}),
                {F32({2, 4}, {1, 2, 1, 2, 3, 4, 3, 4})});
  ExpectNumbers(RunLayer(R"(type: "ShuffleChannel"
                            shuffle_channel_param { group: 2 })",
                         {F32({1, 6}, {0, 1, 2, 3, 4, 5})}),
                {F32({1, 6}, {0, 3, 1, 4, 2, 5})});
  ExpectNumbers(RunLayer(R"(type: "Embed" embed_param { num_output: 2
                            input_dim: 3 })",
                         {F32({3}, {2, 0, 2})},
                         {{{3, 2}, {1, 2, 3, 4, 5, 6}}, {{2}, {10, 20}}}),
                {F32({3, 2}, {15, 26, 11, 22, 15, 26})});
}

// The expected result is computed as in Darknet and in the forks of Caffe that
// have this layer: by a loop over all elements.
TEST(Layers, Reorg) {
  const int64_t c = 4, h = 2, w = 4, s = 2;
  const Numbers x = SequenceOf({1, c, h, w});
  Numbers forward = F32({1, c * s * s, h / s, w / s}, x.values);
  Numbers reverse = F32({1, c / s / s, h * s, w * s}, x.values);
  for (int64_t k = 0; k < c; ++k)
    for (int64_t j = 0; j < h; ++j)
      for (int64_t i = 0; i < w; ++i) {
        const auto in = static_cast<size_t>(i + w * (j + h * k));
        const int64_t inner = k % (c / s / s), offset = k / (c / s / s);
        const auto out = static_cast<size_t>(
            i * s + offset % s + w * s * (j * s + offset / s + h * s * inner));
        forward.values[in] = x.values[out];
        reverse.values[out] = x.values[in];
      }
  ExpectNumbers(RunLayer(R"(type: "Reorg" reorg_param { stride: 2 })", {x}),
                {forward});
  ExpectNumbers(
      RunLayer(R"(type: "Reorg" reorg_param { stride: 2 reverse: true })", {x}),
      {reverse});
}

}  // namespace
}  // namespace ember::tests
