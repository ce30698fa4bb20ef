// Layers against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }

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

struct Image {
  int64_t n, c, h, w;
  std::vector<double> values;
  double At(int64_t i, int64_t j, int64_t y, int64_t x) const {
    if (y < 0 || x < 0 || y >= h || x >= w) return 0;
    return values[static_cast<size_t>(((i * c + j) * h + y) * w + x)];
  }
};

Image ImageOf(const Numbers& x) {
  return {x.dims[0], x.dims[1], x.dims[2], x.dims[3], x.values};
}

// Strides 2 and 1, dilation 2, padding 1 and 2, two groups.
TEST(Layers, ConvolutionOfGroups) {
  const Numbers x = SequenceOf({2, 4, 7, 6});
  const TestBlob w = BlobOf({6, 2, 3, 2}), b = BlobOf({6});
  const Image image = ImageOf(x);
  const int64_t oh = (7 + 2 - 5) / 2 + 1, ow = (6 + 4 - 3) / 1 + 1;
  Numbers y = F32({2, 6, oh, ow}, {});
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t o = 0; o < 6; ++o) {
      for (int64_t r = 0; r < oh; ++r) {
        for (int64_t s = 0; s < ow; ++s) {
          double sum = b.values[static_cast<size_t>(o)];
          for (int64_t i = 0; i < 2; ++i)
            for (int64_t p = 0; p < 3; ++p)
              for (int64_t q = 0; q < 2; ++q)
                sum += image.At(n, o / 3 * 2 + i, r * 2 - 1 + 2 * p,
                                s - 2 + 2 * q) *
                       w.values[static_cast<size_t>(((o * 2 + i) * 3 + p) * 2 +
                                                    q)];
          y.values.push_back(sum);
        }
      }
    }
  }
  ExpectNumbers(RunLayer(R"(type: "Convolution" convolution_param {
      num_output: 6 group: 2 kernel_h: 3 kernel_w: 2 stride_h: 2 stride_w: 1
      pad_h: 1 pad_w: 2 dilation: 2 weight_filler { type: "xavier" std: 1 } })",
                         {x}, {w, b}),
                {y});
}

TEST(Layers, DepthwiseAndVolumes) {
  const Numbers x = SequenceOf({1, 3, 4, 4});
  const TestBlob w = BlobOf({3, 1, 3, 3});
  const Image image = ImageOf(x);
  Numbers y = F32({1, 3, 2, 2}, {});
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t r = 0; r < 2; ++r)
      for (int64_t s = 0; s < 2; ++s) {
        double sum = 0;
        for (int64_t p = 0; p < 9; ++p)
          sum += image.At(0, c, r + p / 3, s + p % 3) *
                 w.values[static_cast<size_t>(c * 9 + p)];
        y.values.push_back(sum);
      }
  for (const std::string type :
       {"ConvolutionDepthwise", "DepthwiseConvolution"}) {
    ExpectNumbers(RunLayer("type: \"" + type + R"(" convolution_param {
        num_output: 3 kernel_size: 3 bias_term: false })",
                           {x}, {w}),
                  {y});
  }
  // Three spatial dims.
  const Numbers volume = SequenceOf({1, 1, 2, 2, 3});
  const TestBlob cube = BlobOf({1, 1, 2, 2, 2});
  Numbers sums = F32({1, 1, 1, 1, 2}, {});
  for (int64_t s = 0; s < 2; ++s) {
    double sum = 0;
    for (int64_t p = 0; p < 8; ++p)
      sum += volume.values[static_cast<size_t>(p / 4 * 6 + p / 2 % 2 * 3 +
                                               p % 2 + s)] *
             cube.values[static_cast<size_t>(p)];
    sums.values.push_back(sum);
  }
  ExpectNumbers(RunLayer(R"(type: "Convolution" convolution_param {
      num_output: 1 kernel_size: 2 bias_term: false })",
                         {volume}, {cube}),
                {sums});
}

TEST(Layers, DeconvolutionOfGroups) {
  const Numbers x = SequenceOf({1, 4, 3, 2});
  const TestBlob w = BlobOf({4, 3, 3, 3}), b = BlobOf({6});
  const int64_t oh = 2 * 2 + 3 - 2, ow = 2 * 1 + 3 - 2;
  Numbers y = F32({1, 6, oh, ow},
                  std::vector<double>(static_cast<size_t>(6 * oh * ow), 0));
  for (int64_t o = 0; o < 6; ++o)
    for (int64_t i = 0; i < oh * ow; ++i)
      y.values[static_cast<size_t>(o * oh * ow + i)] =
          b.values[static_cast<size_t>(o)];
  for (int64_t c = 0; c < 4; ++c)
    for (int64_t o = 0; o < 3; ++o)
      for (int64_t r = 0; r < 3; ++r)
        for (int64_t s = 0; s < 2; ++s)
          for (int64_t p = 0; p < 3; ++p)
            for (int64_t q = 0; q < 3; ++q) {
              const int64_t at_y = r * 2 + p - 1, at_x = s * 2 + q - 1;
              if (at_y < 0 || at_x < 0 || at_y >= oh || at_x >= ow) continue;
              y.values[static_cast<size_t>(((c / 2 * 3 + o) * oh + at_y) * ow +
                                           at_x)] +=
                  x.values[static_cast<size_t>((c * 3 + r) * 2 + s)] *
                  w.values[static_cast<size_t>(((c * 3 + o) * 3 + p) * 3 + q)];
            }
  ExpectNumbers(RunLayer(R"(type: "Deconvolution" convolution_param {
      num_output: 6 group: 2 kernel_size: 3 stride: 2 pad: 1 })",
                         {x}, {w, b}),
                {y});
}

// A filler that is no random one stands for weights that are not there.
TEST(Layers, BilinearFiller) {
  ExpectNumbers(RunLayer(R"(type: "Deconvolution" convolution_param {
      num_output: 1 kernel_size: 4 stride: 2 pad: 1 bias_term: false
      weight_filler { type: "bilinear" } })",
                         {F32({1, 1, 1, 2}, {1, 2})}),
                {F32({1, 1, 2, 4}, {0.5625, 0.9375, 1.3125, 1.125, 0.5625,
                                    0.9375, 1.3125, 1.125})});
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
  // Old files say weights have four dims.
  TestBlob old = w;
  old.dims = {1, 1, 4, 6};
  ExpectNumbers(RunLayer(layer + "}", {x}, {old, b}), {y});
  TestBlob transposed{{6, 4}, {}};
  for (size_t i = 0; i < 6; ++i)
    for (size_t o = 0; o < 4; ++o)
      transposed.values.push_back(w.values[o * 6 + i]);
  ExpectNumbers(RunLayer(layer + "transpose: true }", {x}, {transposed, b}),
                {y});
  // Rows of the last axis.
  ExpectNumbers(RunLayer(R"(type: "InnerProduct" inner_product_param {
      num_output: 1 axis: -1 bias_term: false })",
                         {F32({2, 1, 2}, {1, 2, 3, 4})}, {{{1, 2}, {10, 1}}}),
                {F32({2, 1, 1}, {12, 34})});
}

struct Pooling {
  int64_t kernel, stride, pad;
};

int64_t Outputs(int64_t extent, const Pooling& p) {
  int64_t count = static_cast<int64_t>(std::ceil(
                      static_cast<double>(extent + 2 * p.pad - p.kernel) /
                      static_cast<double>(p.stride))) +
                  1;
  if (p.pad > 0 && (count - 1) * p.stride >= extent + p.pad) --count;
  return count;
}

Numbers PooledOf(const Numbers& x, const Pooling& p, bool average) {
  const Image image = ImageOf(x);
  const int64_t oh = Outputs(image.h, p), ow = Outputs(image.w, p);
  Numbers y = F32({image.n, image.c, oh, ow}, {});
  for (int64_t n = 0; n < image.n; ++n)
    for (int64_t c = 0; c < image.c; ++c)
      for (int64_t r = 0; r < oh; ++r)
        for (int64_t s = 0; s < ow; ++s) {
          int64_t h0 = r * p.stride - p.pad, w0 = s * p.stride - p.pad;
          int64_t h1 = std::min(h0 + p.kernel, image.h + p.pad);
          int64_t w1 = std::min(w0 + p.kernel, image.w + p.pad);
          const double size = static_cast<double>((h1 - h0) * (w1 - w0));
          h0 = std::max<int64_t>(h0, 0);
          w0 = std::max<int64_t>(w0, 0);
          h1 = std::min(h1, image.h);
          w1 = std::min(w1, image.w);
          double sum = 0, largest = -1e30;
          for (int64_t i = h0; i < h1; ++i)
            for (int64_t j = w0; j < w1; ++j) {
              sum += image.At(n, c, i, j);
              largest = std::max(largest, image.At(n, c, i, j));
            }
          y.values.push_back(average ? sum / size : largest);
        }
  return y;
}

TEST(Layers, PoolingRoundsUpAndClips) {
  const Pooling cases[] = {{2, 2, 0}, {3, 2, 0}, {3, 2, 1}, {2, 2, 1},
                           {3, 3, 1}, {3, 1, 1}, {5, 2, 2}, {4, 3, 2}};
  for (const int64_t extent : {5, 6, 7, 8}) {
    const Numbers x = SequenceOf({1, 2, extent, 9});
    for (const Pooling& p : cases) {
      for (const bool average : {false, true}) {
        const std::string layer =
            std::string(R"(type: "Pooling" pooling_param { pool: )") +
            (average ? "AVE" : "MAX") +
            " kernel_size: " + std::to_string(p.kernel) +
            " stride: " + std::to_string(p.stride) +
            " pad: " + std::to_string(p.pad) + " }";
        SCOPED_TRACE(layer + " extent " + std::to_string(extent));
        ExpectNumbers(RunLayer(layer, {x}), {PooledOf(x, p, average)});
      }
    }
  }
}

TEST(Layers, PoolingOfOtherKinds) {
  const Numbers x = F32({1, 1, 2, 3}, {1, 5, 2, 4, 3, 6});
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { pool: AVE
                  global_pooling: true })",
                         {x}),
                {F32({1, 1, 1, 1}, {3.5})});
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2
                            stride: 2 round_mode: FLOOR })",
                         {x}),
                {F32({1, 1, 1, 1}, {5})});
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2
                            stride: 2 ceil_mode: false })",
                         {x}),
                {F32({1, 1, 1, 1}, {5})});
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2
                            pool: STOCHASTIC })",
                         {x}),
                {F32({1, 1, 1, 2}, {51.0 / 13, 74.0 / 16})});
  // The second top says where the largest are; Upsample puts them back.
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2
                            stride: 2 })",
                         {x}, {}, 2),
                {F32({1, 1, 1, 2}, {5, 6}), F32({1, 1, 1, 2}, {1, 5})});
  ExpectNumbers(
      RunLayer(R"(type: "Upsample" upsample_param { scale: 2 upsample_w: 3 })",
               {F32({1, 1, 1, 2}, {5, 6}), F32({1, 1, 1, 2}, {1, 5})}),
      {F32({1, 1, 2, 3}, {0, 5, 0, 0, 0, 6})});
  ExpectNumbers(RunLayer(R"(type: "Upsample" upsample_param { scale: 2 })",
                         {F32({1, 1, 1, 2}, {5, 6})}),
                {F32({1, 1, 2, 4}, {5, 5, 6, 6, 5, 5, 6, 6})});
}

TEST(Layers, Spp) {
  const Numbers x = F32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  // Two bins of 2, with padding of 1 before and behind.
  ExpectNumbers(RunLayer(R"(type: "SPP" spp_param { pyramid_height: 2 })", {x}),
                {F32({1, 5}, {9, 1, 3, 7, 9})});
  ExpectNumbers(RunLayer(R"(type: "SPP" spp_param { pyramid_height: 1 })", {x}),
                {F32({1, 1, 1, 1}, {9})});
}

TEST(Layers, Interp) {
  const Numbers x = F32({1, 1, 2, 2}, {0, 2, 4, 6});
  ExpectNumbers(
      RunLayer(R"(type: "Interp" interp_param { height: 3 width: 3 })", {x}),
      {F32({1, 1, 3, 3}, {0, 1, 2, 2, 3, 4, 4, 5, 6})});
  ExpectNumbers(
      RunLayer(R"(type: "Interp" interp_param { zoom_factor: 2 })", {x}),
      {F32({1, 1, 3, 3}, {0, 1, 2, 2, 3, 4, 4, 5, 6})});
}

TEST(Layers, Im2col) {
  ExpectNumbers(RunLayer(R"(type: "Im2col" convolution_param {
      kernel_h: 1 kernel_w: 2 pad_w: 1 })",
                         {F32({1, 1, 1, 2}, {3, 4})}),
                {F32({1, 2, 1, 3}, {0, 3, 4, 3, 4, 0})});
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
  // A factor of 0 is one for statistics of 0.
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
  // From the first axis on; all axes; a scalar.
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

TEST(Layers, Lrn) {
  const Numbers x = SequenceOf({1, 4, 3, 3});
  const Image image = ImageOf(x);
  Numbers across = x, within = x;
  size_t i = 0;
  for (int64_t c = 0; c < 4; ++c)
    for (int64_t r = 0; r < 3; ++r)
      for (int64_t s = 0; s < 3; ++s, ++i) {
        double channels = 0, pixels = 0;
        for (int64_t d = -1; d <= 1; ++d) {
          if (c + d >= 0 && c + d < 4)
            channels += std::pow(image.At(0, c + d, r, s), 2);
          for (int64_t e = -1; e <= 1; ++e)
            pixels += std::pow(image.At(0, c, r + d, s + e), 2);
        }
        across.values[i] /= std::pow(2 + 0.5 / 3 * channels, 0.6);
        within.values[i] /= std::pow(1 + 0.5 / 9 * pixels, 0.6);
      }
  const std::string layer = R"(type: "LRN" lrn_param { local_size: 3
      alpha: 0.5 beta: 0.6 k: 2 norm_region: )";
  ExpectNumbers(RunLayer(layer + "ACROSS_CHANNELS }", {x}), {across});
  ExpectNumbers(RunLayer(layer + "WITHIN_CHANNEL }", {x}), {within});
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

// Darknet's loop over the elements, as its forks for Caffe have it.
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

struct Unit {
  std::vector<double> h, c;
};

// One step; x is the part of the gates that is known before.
Unit LstmStep(const std::vector<double>& gates, double cont, const Unit& before,
              const std::vector<float>& w) {
  const size_t d = before.h.size();
  std::vector<double> g = gates;
  for (size_t i = 0; i < 4 * d; ++i)
    for (size_t j = 0; j < d; ++j) g[i] += w[i * d + j] * cont * before.h[j];
  Unit after = before;
  for (size_t i = 0; i < d; ++i) {
    after.c[i] = cont * SigmoidOf(g[d + i]) * before.c[i] +
                 SigmoidOf(g[i]) * std::tanh(g[3 * d + i]);
    after.h[i] = SigmoidOf(g[2 * d + i]) * std::tanh(after.c[i]);
  }
  return after;
}

TEST(Layers, LstmBeginsAnewAndKeepsItsState) {
  constexpr size_t kSteps = 3, kD = 2, kIn = 3;
  const Numbers x = SequenceOf({kSteps, 1, kIn});
  const Numbers cont = F32({kSteps, 1}, {1, 1, 0});
  const TestBlob wx = BlobOf({4 * kD, kIn}), b = BlobOf({4 * kD}),
                 wh = BlobOf({4 * kD, kD});
  Unit unit{{0.5, -0.25}, {1, 2}};
  const Numbers h0 = F32({1, kD}, unit.h), c0 = F32({1, kD}, unit.c);
  Numbers y = F32({kSteps, 1, kD}, {});
  for (size_t t = 0; t < kSteps; ++t) {
    std::vector<double> gates(b.values.begin(), b.values.end());
    for (size_t g = 0; g < 4 * kD; ++g)
      for (size_t i = 0; i < kIn; ++i)
        gates[g] += wx.values[g * kIn + i] * x.values[t * kIn + i];
    unit = LstmStep(gates, cont.values[t], unit, wh.values);
    y.values.insert(y.values.end(), unit.h.begin(), unit.h.end());
  }
  const Numbers h = F32({1, kD}, unit.h), c = F32({1, kD}, unit.c);
  ExpectNumbers(RunLayer(R"(type: "LSTM" recurrent_param { num_output: 2 })",
                         {x, cont}, {wx, b, wh}, 1, {h0, c0}),
                {y, h, c});
  // The same states as bottoms and tops.
  auto stepped = [](Numbers state) {
    state.dims.insert(state.dims.begin(), 1);
    return state;
  };
  ExpectNumbers(RunLayer(R"(type: "LSTM" recurrent_param { num_output: 2
                            expose_hidden: true })",
                         {x, cont, stepped(h0), stepped(c0)}, {wx, b, wh}, 3),
                {y, stepped(h), stepped(c)});
}

TEST(Layers, LstmWithStaticInput) {
  const Numbers x = F32({1, 1, 1}, {0.5}), cont = F32({1, 1}, {0});
  const Numbers fixed = F32({1, 2}, {1, -1});
  const TestBlob wx = BlobOf({4, 1}), b = BlobOf({4}), ws = BlobOf({4, 2}),
                 wh = BlobOf({4, 1});
  std::vector<double> gates;
  for (size_t g = 0; g < 4; ++g)
    gates.push_back(b.values[g] + 0.5 * wx.values[g] + ws.values[2 * g] -
                    ws.values[2 * g + 1]);
  const Unit unit = LstmStep(gates, 0, {{9}, {9}}, wh.values);
  ExpectNumbers(
      RunLayer(R"(type: "LSTM" recurrent_param { num_output: 1 })",
               {x, cont, fixed}, {wx, b, ws, wh}, 1,
               {F32({1, 1}, {9}), F32({1, 1}, {9})}),
      {F32({1, 1, 1}, unit.h), F32({1, 1}, unit.h), F32({1, 1}, unit.c)});
  const Numbers before = F32({1, 1, 1}, {0.75});
  Numbers given = F32({1, 1, 4}, gates);
  const Unit next = LstmStep(gates, 1, {{0}, {0.75}}, {0, 0, 0, 0});
  ExpectNumbers(
      RunLayer(R"(type: "LSTMUnit")", {before, given, F32({1, 1}, {1})}, {}, 2),
      {F32({1, 1, 1}, next.c), F32({1, 1, 1}, next.h)});
}

TEST(Layers, Rnn) {
  const Numbers x = SequenceOf({2, 1, 2}), cont = F32({2, 1}, {0, 1});
  const TestBlob wx = BlobOf({2, 2}), b = BlobOf({2}), wh = BlobOf({2, 2}),
                 wo = BlobOf({2, 2}), bo{{2}, {0.25, -0.5}};
  std::vector<double> h{3, 4}, outputs;
  for (size_t t = 0; t < 2; ++t) {
    std::vector<double> next(2), out(2);
    for (size_t i = 0; i < 2; ++i) {
      double sum = b.values[i];
      for (size_t j = 0; j < 2; ++j)
        sum += wx.values[i * 2 + j] * x.values[t * 2 + j] +
               wh.values[i * 2 + j] * h[j] * cont.values[t];
      next[i] = std::tanh(sum);
    }
    for (size_t i = 0; i < 2; ++i)
      outputs.push_back(std::tanh(bo.values[i] + wo.values[i * 2] * next[0] +
                                  wo.values[i * 2 + 1] * next[1]));
    h = next;
  }
  ExpectNumbers(
      RunLayer(R"(type: "RNN" recurrent_param { num_output: 2 })", {x, cont},
               {wx, b, wh, wo, bo}, 1, {F32({1, 2}, {3, 4})}),
      {F32({2, 1, 2}, outputs), F32({1, 2}, h)});
}

}  // namespace
}  // namespace ember::tests
