// Tests layers with windows, such as convolution and pooling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/caffe/one_layer.h"

namespace ember::tests {
namespace {

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

// Tests a convolution with strides 2 and 1, dilation 2, padding 1 and 2, and
// two groups against plain loops.
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
  // The convolution is also tested on an input with three spatial dims.
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

// If a file lacks weights, a filler that is not random provides them, such as
// "bilinear".
TEST(Layers, BilinearFiller) {
  ExpectNumbers(RunLayer(R"(type: "Deconvolution" convolution_param {
      num_output: 1 kernel_size: 4 stride: 2 pad: 1 bias_term: false
      weight_filler { type: "bilinear" } })",
                         {F32({1, 1, 1, 2}, {1, 2})}),
                {F32({1, 1, 2, 4}, {0.5625, 0.9375, 1.3125, 1.125, 0.5625,
                                    0.9375, 1.3125, 1.125})});
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
  // The second top of Pooling holds the positions of the largest values.
  // Upsample writes values back to these positions.
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2
                            stride: 2 })",
                         {x}, {}, 2),
                {F32({1, 1, 1, 2}, {5, 6}), F32({1, 1, 1, 2}, {1, 5})});
  // In a window with NaNs, the maximum is NaN, at the position of the first
  // NaN.
  ExpectNumbers(RunLayer(R"(type: "Pooling" pooling_param { kernel_size: 2 })",
                         {F32({1, 1, 2, 3}, {NAN, 5, 2, 4, NAN, 6})}, {}, 2),
                {F32({1, 1, 1, 2}, {NAN, NAN}), F32({1, 1, 1, 2}, {0, 4})});
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
  // The result has the maximum of the whole image, then those of the pyramid's
  // second level: 2 x 2 bins of 2 x 2 elements each, where the 3 x 3 image is
  // padded by 1.
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

}  // namespace
}  // namespace ember::tests
