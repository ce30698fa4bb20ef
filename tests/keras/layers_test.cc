// Tests single layers against their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/keras/one_layer.h"

namespace ember::tests {
namespace {

// Returns numbers that all differ: 0.1, -0.2, 0.3, -0.4 ….
std::vector<double> Sequence(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i % 2 == 0 ? i + 1 : -i - 1) / 10);
  return values;
}

std::vector<double> Map(const std::vector<double>& x,
                        const std::function<double(double)>& f) {
  std::vector<double> y;
  for (const double value : x) y.push_back(f(value));
  return y;
}

// An image. At() returns element [y, x, c], or 0 if the position is outside of
// the image.
struct Image {
  int64_t height, width, channels;
  std::vector<double> values;
  double At(int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || x < 0 || y >= height || x >= width) return 0;
    return values[static_cast<size_t>((y * width + x) * channels + c)];
  }
};

TEST(Layers, Dense) {
  OneLayer layer("Dense", R"({"units": 2, "activation": "relu"})");
  layer.Input(F32({1, 3}, {1, 2, 3}));
  layer.Weight(F32({3, 2}, {1, -1, 1, -1, 1, -1})).Weight(F32({2}, {0.5, 1}));
  ExpectNumbers(layer.Run(), {F32({1, 2}, {6.5, 0})});
}

TEST(Layers, EinsumDense) {
  OneLayer layer("EinsumDense",
                 R"({"equation": "...x,xy->...y", "bias_axes": "y"})");
  layer.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  layer.Weight(F32({2, 2}, {1, 0, 1, 2})).Weight(F32({2}, {10, 20}));
  ExpectNumbers(layer.Run(), {F32({1, 2, 2}, {13, 24, 17, 28})});
}

TEST(Layers, Embedding) {
  OneLayer layer("Embedding", R"({"input_dim": 3, "output_dim": 2})");
  layer.Input(I32({1, 3}, {2, 0, 1}));
  layer.Weight(F32({3, 2}, {1, 2, 3, 4, 5, 6}));
  ExpectNumbers(layer.Run(), {F32({1, 3, 2}, {5, 6, 1, 2, 3, 4})});
}

TEST(Layers, Convolution2DSameStrided) {
  const Image x{5, 4, 2, Sequence(40)};
  const std::vector<double> w = Sequence(3 * 2 * 2 * 3);
  OneLayer layer("Conv2D",
                 R"({"kernel_size": [3, 2], "strides": [2, 2],
                     "padding": "same", "use_bias": false})");
  layer.Input(F32({1, 5, 4, 2}, x.values)).Weight(F32({3, 2, 2, 3}, w));
  std::vector<double> expected;
  for (int64_t y = 0; y < 3; ++y) {
    for (int64_t c = 0; c < 2; ++c) {
      for (int64_t o = 0; o < 3; ++o) {
        double sum = 0;
        for (int64_t dy = 0; dy < 3; ++dy)
          for (int64_t dx = 0; dx < 2; ++dx)
            for (int64_t i = 0; i < 2; ++i)
              // The padding "same" adds two rows in all, one of them before the
              // image, and no column before the image.
              sum += x.At(2 * y + dy - 1, 2 * c + dx, i) *
                     w[static_cast<size_t>(((dy * 2 + dx) * 2 + i) * 3 + o)];
        expected.push_back(sum);
      }
    }
  }
  ExpectNumbers(layer.Run(), {F32({1, 3, 2, 3}, expected)}, 1e-5);
}

TEST(Layers, ChannelsFirstConvolution) {
  OneLayer layer("Conv2D",
                 R"({"kernel_size": 1, "data_format": "channels_first",
                     "use_bias": true})");
  layer.Input(F32({1, 2, 1, 2}, {1, 2, 3, 4}));
  layer.Weight(F32({1, 1, 2, 1}, {10, 1})).Weight(F32({1}, {0.5}));
  ExpectNumbers(layer.Run(), {F32({1, 1, 1, 2}, {13.5, 24.5})});
}

TEST(Layers, CausalDilatedConvolution1D) {
  OneLayer layer("Conv1D",
                 R"({"kernel_size": [2], "dilation_rate": [2],
                     "padding": "causal", "use_bias": false})");
  layer.Input(F32({1, 4, 1}, {1, 2, 3, 4})).Weight(F32({2, 1, 1}, {10, 1}));
  ExpectNumbers(layer.Run(), {F32({1, 4, 1}, {1, 2, 13, 24})});
}

TEST(Layers, GroupedConvolution3D) {
  OneLayer layer("Conv3D", R"({"kernel_size": [1, 1, 2], "groups": 2,
                               "use_bias": false})");
  layer.Input(F32({1, 1, 1, 2, 2}, {1, 2, 3, 4}));
  layer.Weight(F32({1, 1, 2, 1, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(layer.Run(), {F32({1, 1, 1, 1, 2}, {301, 4020})});
}

TEST(Layers, DepthwiseConvolution) {
  OneLayer layer("DepthwiseConv2D",
                 R"({"kernel_size": [1, 2], "depth_multiplier": 2})");
  layer.Input(F32({1, 1, 2, 2}, {1, 2, 3, 4}));
  // The weight has the dims [rows 1, columns 2, channels 2, multiplier 2].
  layer.Weight(F32({1, 2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40}));
  layer.Weight(F32({4}, {0, 0, 0, 1}));
  ExpectNumbers(layer.Run(), {F32({1, 1, 1, 4}, {10, 100, 20, 201})});
}

TEST(Layers, SeparableConvolution) {
  OneLayer layer("SeparableConv1D", R"({"kernel_size": [2]})");
  layer.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  layer.Weight(F32({2, 2, 1}, {1, 10, 1, 10}));
  layer.Weight(F32({1, 2, 1}, {1, 100})).Weight(F32({1}, {0.5}));
  ExpectNumbers(layer.Run(), {F32({1, 1, 1}, {4 + 6000 + 0.5})});
}

// The expected result adds each element, times the kernel, to all positions
// that a convolution with the same settings would read to compute that element.
TEST(Layers, TransposedConvolution) {
  const std::vector<double> x = {1, 2, 3}, w = {1, 10, 100};
  for (const std::string padding : {"valid", "same"}) {
    for (const int64_t stride : {1, 2, 4}) {
      const bool same = padding == "same";
      const int64_t extent =
          same ? 3 * stride : 3 * stride + std::max<int64_t>(3 - stride, 0);
      const int64_t cut = std::max<int64_t>(2 * stride + 3 - extent, 0);
      std::vector<double> expected(static_cast<size_t>(extent));
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t k = 0; k < 3; ++k) {
          const int64_t at = i * stride + k - (same ? cut / 2 : 0);
          if (at >= 0 && at < extent)
            expected[static_cast<size_t>(at)] +=
                x[static_cast<size_t>(i)] * w[static_cast<size_t>(k)];
        }
      }
      OneLayer layer("Conv1DTranspose",
                     R"({"kernel_size": [3], "use_bias": false, "strides": )" +
                         std::to_string(stride) + R"(, "padding": ")" +
                         padding + "\"}");
      layer.Input(F32({1, 3, 1}, x)).Weight(F32({3, 1, 1}, w));
      SCOPED_TRACE(padding + std::to_string(stride));
      ExpectNumbers(layer.Run(), {F32({1, extent, 1}, expected)});
    }
  }
}

TEST(Layers, TransposedConvolutionWithOutputPaddingAndChannels) {
  OneLayer layer("Conv2DTranspose",
                 R"({"kernel_size": [1, 2], "strides": [1, 3],
                     "output_padding": [0, 1], "use_bias": true})");
  layer.Input(F32({1, 1, 2, 1}, {1, 2}));
  // The weight has the dims [rows 1, columns 2, outputs 2, inputs 1].
  layer.Weight(F32({1, 2, 2, 1}, {1, 10, 100, 1000}));
  layer.Weight(F32({2}, {0, 0.5}));
  ExpectNumbers(layer.Run(),
                {F32({1, 1, 6, 2}, {1, 10.5, 100, 1000.5, 0, 0.5, 2, 20.5, 200,
                                    2000.5, 0, 0.5})});
}

TEST(Layers, LocallyConnected) {
  OneLayer layer("LocallyConnected1D", R"({"kernel_size": [2]})");
  layer.Input(F32({1, 3, 1}, {1, 2, 3}));
  layer.Weight(F32({2, 2, 1}, {1, 10, 100, 1000}));
  layer.Weight(F32({2, 1}, {0, 0.5}));
  ExpectNumbers(layer.Run(), {F32({1, 2, 1}, {21, 3200.5})});
}

TEST(Layers, Pooling) {
  OneLayer maximum("MaxPooling2D", R"({"pool_size": [2, 2], "strides": [2, 2],
                                       "padding": "same"})");
  maximum.Input(F32({1, 3, 2, 1}, {1, 2, 3, 4, -5, -6}));
  ExpectNumbers(maximum.Run(), {F32({1, 2, 1, 1}, {4, -5})});
  // The last window has a padded position, which does not count in the mean.
  OneLayer mean("AveragePooling1D", R"({"pool_size": 2, "padding": "same"})");
  mean.Input(F32({1, 3, 1}, {1, 2, 6}));
  ExpectNumbers(mean.Run(), {F32({1, 2, 1}, {1.5, 6})});
}

TEST(Layers, GlobalPooling) {
  OneLayer mean("GlobalAveragePooling2D", R"({"keepdims": true})");
  mean.Input(F32({1, 2, 1, 2}, {1, 2, 3, 4}));
  ExpectNumbers(mean.Run(), {F32({1, 1, 1, 2}, {2, 3})});
  OneLayer most("GlobalMaxPooling1D");
  most.Input(F32({1, 2, 2}, {1, 5, 3, 4}));
  ExpectNumbers(most.Run(), {F32({1, 2}, {3, 5})});
}

TEST(Layers, MaskedAverage) {
  OneLayer layer("GlobalAveragePooling1D");
  layer.Input(F32({1, 3, 1}, {2, 0, 4})).Masked(0);
  ExpectNumbers(layer.Run(), {F32({1, 1}, {3})});
}

TEST(Layers, BatchNormalization) {
  OneLayer layer("BatchNormalization", R"({"axis": [1], "epsilon": 0})");
  layer.Input(F32({1, 2}, {3, 5}));
  layer.Weight(F32({2}, {2, 1})).Weight(F32({2}, {10, 20}));
  layer.Weight(F32({2}, {1, 1})).Weight(F32({2}, {4, 16}));
  ExpectNumbers(layer.Run(), {F32({1, 2}, {12, 21})});
}

TEST(Layers, LayerAndGroupNormalization) {
  OneLayer by_layer("LayerNormalization", R"({"axis": -1, "epsilon": 0})");
  by_layer.Input(F32({1, 2}, {1, 3}));
  by_layer.Weight(F32({2}, {2, 3})).Weight(F32({2}, {0, 1}));
  ExpectNumbers(by_layer.Run(), {F32({1, 2}, {-2, 4})});
  OneLayer by_group("GroupNormalization", R"({"groups": 2, "epsilon": 0})");
  by_group.Input(F32({1, 1, 4}, {1, 3, 10, 30}));
  by_group.Weight(F32({4}, {1, 1, 1, 2})).Weight(F32({4}, {0, 0, 0, 0.5}));
  ExpectNumbers(by_group.Run(), {F32({1, 1, 4}, {-1, 1, -1, 2.5})});
}

TEST(Layers, UnitAndRmsNormalization) {
  OneLayer unit("UnitNormalization");
  unit.Input(F32({1, 2}, {3, 4}));
  ExpectNumbers(unit.Run(), {F32({1, 2}, {0.6, 0.8})});
  OneLayer rms("RMSNormalization", R"({"epsilon": 0})");
  rms.Input(F32({1, 2}, {1, 7})).Weight(F32({2}, {1, 2}));
  ExpectNumbers(rms.Run(), {F32({1, 2}, {0.2, 2.8})});
}

TEST(Layers, Activations) {
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<std::pair<std::string, std::function<double(double)>>>
      functions = {
          {"relu", [](double x) { return std::max(x, 0.0); }},
          {"relu6", [](double x) { return std::clamp(x, 0.0, 6.0); }},
          {"elu", [](double x) { return x > 0 ? x : std::expm1(x); }},
          {"selu",
           [](double x) {
             return 1.0507009873554805 *
                    (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
           }},
          {"sigmoid", sigmoid},
          {"hard_sigmoid",
           [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
          {"softplus", softplus},
          {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
          {"swish", [&](double x) { return x * sigmoid(x); }},
          {"gelu",
           [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }},
          {"mish", [&](double x) { return x * std::tanh(softplus(x)); }},
          {"exponential", [](double x) { return std::exp(x); }},
          {"tanh", [](double x) { return std::tanh(x); }},
          {"leaky_relu", [](double x) { return x > 0 ? x : 0.2 * x; }},
          {"log_sigmoid", [&](double x) { return -softplus(-x); }},
          {"hard_shrink", [](double x) { return std::abs(x) > 0.5 ? x : 0; }},
          {"soft_shrink",
           [](double x) { return x > 0.5    ? x - 0.5
                                 : x < -0.5 ? x + 0.5
                                            : 0; }},
          {"squareplus",
           [](double x) { return (x + std::sqrt(x * x + 4)) / 2; }},
          {"linear", [](double x) { return x; }},
      };
  const std::vector<double> x = {-8, -1.5, -0.25, 0, 0.5, 2, 7};
  for (const auto& [name, function] : functions) {
    OneLayer layer("Activation", R"({"activation": ")" + name + "\"}");
    layer.Input(F32({7}, x));
    SCOPED_TRACE(name);
    ExpectNumbers(layer.Run(), {F32({7}, Map(x, function))}, 1e-5);
  }
  OneLayer newer("Activation", R"({"activation": "hard_sigmoid"})");
  newer.Version("3.4.1").Input(F32({2}, {-1, 4}));
  ExpectNumbers(newer.Run(), {F32({2}, {2.0 / 6, 1})}, 1e-6);
}

TEST(Layers, ActivationLayers) {
  OneLayer relu("ReLU", R"({"max_value": 4, "negative_slope": 0.5,
                            "threshold": 1})");
  relu.Input(F32({4}, {-1, 0.5, 2, 9}));
  ExpectNumbers(relu.Run(), {F32({4}, {-1, -0.25, 2, 4})});
  OneLayer leaky("LeakyReLU");
  leaky.Input(F32({2}, {-1, 2}));
  ExpectNumbers(leaky.Run(), {F32({2}, {-0.3, 2})}, 1e-6);
  OneLayer slopes("PReLU", R"({"shared_axes": [1]})");
  slopes.Input(F32({1, 2, 2}, {-1, -1, 2, -2})).Weight(F32({1, 2}, {0.5, 2}));
  ExpectNumbers(slopes.Run(), {F32({1, 2, 2}, {-0.5, -2, 2, -4})});
  OneLayer softmax("Softmax", R"({"axis": [1]})");
  softmax.Input(F32({1, 2}, {0, std::log(3.0)}));
  ExpectNumbers(softmax.Run(), {F32({1, 2}, {0.25, 0.75})}, 1e-6);
  OneLayer threshold("ThresholdedReLU", R"({"theta": 1})");
  threshold.Input(F32({3}, {0.5, 1, 2}));
  ExpectNumbers(threshold.Run(), {F32({3}, {0, 0, 2})});
}

TEST(Layers, Merging) {
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"Add", {11, 22, 13, 24}},      {"Subtract", {-9, -18, -7, -16}},
      {"Multiply", {10, 40, 30, 80}}, {"Average", {5.5, 11, 6.5, 12}},
      {"Maximum", {10, 20, 10, 20}},  {"Minimum", {1, 2, 3, 4}},
  };
  for (const auto& [name, expected] : cases) {
    // The second input has one dim less: a dim of 1 is inserted after the
    // batch, so that it broadcasts along the steps.
    OneLayer layer(name);
    layer.Input(F32({1, 2, 2}, {1, 2, 3, 4})).Input(F32({1, 2}, {10, 20}));
    SCOPED_TRACE(name);
    ExpectNumbers(layer.Run(), {F32({1, 2, 2}, expected)});
  }
  OneLayer concatenate("Concatenate", R"({"axis": 1})");
  concatenate.Input(F32({1, 1}, {1})).Input(F32({1, 2}, {2, 3}));
  ExpectNumbers(concatenate.Run(), {F32({1, 3}, {1, 2, 3})});
  OneLayer dot("Dot", R"({"axes": [2, 1]})");
  dot.Input(F32({1, 1, 2}, {1, 2})).Input(F32({1, 2, 1}, {10, 1}));
  ExpectNumbers(dot.Run(), {F32({1, 1, 1}, {12})});
  OneLayer cosine("Dot", R"({"axes": 1, "normalize": true})");
  cosine.Input(F32({1, 2}, {3, 4})).Input(F32({1, 2}, {4, 3}));
  ExpectNumbers(cosine.Run(), {F32({1, 1}, {0.96})}, 1e-6);
}

TEST(Layers, Shapes) {
  OneLayer reshape("Reshape", R"({"target_shape": [-1, 2]})");
  reshape.Input(F32({1, 4}, {1, 2, 3, 4}));
  ExpectNumbers(reshape.Run(), {F32({1, 2, 2}, {1, 2, 3, 4})});
  OneLayer permute("Permute", R"({"dims": [2, 1]})");
  permute.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  ExpectNumbers(permute.Run(), {F32({1, 2, 2}, {1, 3, 2, 4})});
  OneLayer flatten("Flatten", R"({"data_format": "channels_first"})");
  flatten.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  ExpectNumbers(flatten.Run(), {F32({1, 4}, {1, 3, 2, 4})});
  OneLayer repeat("RepeatVector", R"({"n": 2})");
  repeat.Input(F32({1, 2}, {1, 2}));
  ExpectNumbers(repeat.Run(), {F32({1, 2, 2}, {1, 2, 1, 2})});
}

TEST(Layers, CroppingAndPadding) {
  OneLayer crop("Cropping2D", R"({"cropping": [[1, 0], [0, 1]]})");
  crop.Input(F32({1, 2, 2, 1}, {1, 2, 3, 4}));
  ExpectNumbers(crop.Run(), {F32({1, 1, 1, 1}, {3})});
  OneLayer pad("ZeroPadding1D", R"({"padding": [2, 1]})");
  pad.Input(F32({1, 1, 1}, {7}));
  ExpectNumbers(pad.Run(), {F32({1, 4, 1}, {0, 0, 7, 0})});
  OneLayer all("ZeroPadding3D", R"({"padding": [0, 1, 0]})");
  all.Input(F32({1, 1, 1, 1, 1}, {7}));
  ExpectNumbers(all.Run(), {F32({1, 1, 3, 1, 1}, {0, 7, 0})});
}

TEST(Layers, UpSampling) {
  OneLayer nearest("UpSampling2D", R"({"size": [1, 2]})");
  nearest.Input(F32({1, 1, 2, 1}, {1, 2}));
  ExpectNumbers(nearest.Run(), {F32({1, 1, 4, 1}, {1, 1, 2, 2})});
  OneLayer linear("UpSampling2D",
                  R"({"size": [1, 2], "interpolation": "bilinear"})");
  linear.Input(F32({1, 1, 2, 1}, {1, 3}));
  ExpectNumbers(linear.Run(), {F32({1, 1, 4, 1}, {1, 1.5, 2.5, 3})});
  OneLayer steps("UpSampling1D", R"({"size": 2})");
  steps.Input(F32({1, 2, 1}, {1, 2}));
  ExpectNumbers(steps.Run(), {F32({1, 4, 1}, {1, 1, 2, 2})});
}

TEST(Layers, Preprocessing) {
  OneLayer rescale("Rescaling", R"({"scale": 0.5, "offset": [1, -1]})");
  rescale.Input(U8({1, 2}, {4, 6}));
  ExpectNumbers(rescale.Run(), {F32({1, 2}, {3, 2})});
  OneLayer normal("Normalization", R"({"axis": -1, "mean": [[1, 2]],
                                       "variance": [[4, 16]]})");
  normal.Input(F32({1, 2}, {5, 10}));
  ExpectNumbers(normal.Run(), {F32({1, 2}, {2, 2})});
  OneLayer learned("Normalization", R"({"axis": [-1]})");
  learned.Input(F32({1, 1}, {5}));
  learned.Weight(F32({1}, {1})).Weight(F32({1}, {4})).Weight(I64({}, {9}));
  ExpectNumbers(learned.Run(), {F32({1, 1}, {2})});
  OneLayer bins("Discretization", R"({"bin_boundaries": [0, 1, 2]})");
  bins.Input(F32({4}, {-1, 0, 1.5, 2}));
  ExpectNumbers(bins.Run(), {I64({4}, {0, 1, 2, 3})});
  OneLayer one_hot("CategoryEncoding",
                   R"({"num_tokens": 3, "output_mode": "one_hot"})");
  one_hot.Input(I32({2}, {2, 0}));
  ExpectNumbers(one_hot.Run(), {F32({2, 3}, {0, 0, 1, 1, 0, 0})});
  OneLayer count("CategoryEncoding",
                 R"({"num_tokens": 3, "output_mode": "count"})");
  count.Input(I32({1, 3}, {2, 0, 2}));
  ExpectNumbers(count.Run(), {F32({1, 3}, {1, 0, 2})});
}

TEST(Layers, ResizingAndCropping) {
  OneLayer resize("Resizing", R"({"height": 1, "width": 4})");
  resize.Input(F32({1, 1, 2, 1}, {1, 3}));
  ExpectNumbers(resize.Run(), {F32({1, 1, 4, 1}, {1, 1.5, 2.5, 3})});
  OneLayer crop("CenterCrop", R"({"height": 1, "width": 2})");
  crop.Input(F32({1, 1, 4, 1}, {1, 2, 3, 4}));
  ExpectNumbers(crop.Run(), {F32({1, 1, 2, 1}, {2, 3})});
}

TEST(Layers, MultiHeadAttention) {
  // The attention layer has one head of width 1, and all weights are 1: it
  // computes softmax(q k) v.
  OneLayer layer("MultiHeadAttention", R"({"num_heads": 1, "key_dim": 1,
                                           "use_bias": false})");
  layer.Input(F32({1, 2, 1}, {1, 2}));
  layer.Arguments(R"({"value": ["x0", 0, 0]})");
  for (int i = 0; i < 4; ++i) layer.Weight(F32({1, 1, 1}, {1}));
  const auto mean = [](double q) {
    const double a = std::exp(q), b = std::exp(2 * q);
    return (a + 2 * b) / (a + b);
  };
  ExpectNumbers(layer.Run(), {F32({1, 2, 1}, {mean(1), mean(2)})}, 1e-5);
  OneLayer causal("MultiHeadAttention", R"({"num_heads": 1, "key_dim": 1,
                                            "use_bias": false})");
  causal.Input(F32({1, 2, 1}, {1, 2}));
  causal.Arguments(R"({"value": ["x0", 0, 0], "use_causal_mask": true})");
  for (int i = 0; i < 4; ++i) causal.Weight(F32({1, 1, 1}, {1}));
  ExpectNumbers(causal.Run(), {F32({1, 2, 1}, {1, mean(2)})}, 1e-5);
}

TEST(Layers, Attention) {
  const double a = std::exp(1.0), b = std::exp(2.0);
  OneLayer dot("Attention", R"({"use_scale": true})");
  dot.Input(F32({1, 1, 1}, {1})).Input(F32({1, 2, 1}, {0.5, 1}));
  dot.Weight(F32({}, {2}));
  ExpectNumbers(dot.Run(), {F32({1, 1, 1}, {(0.5 * a + b) / (a + b)})}, 1e-5);
  const double p = std::exp(3 * std::tanh(1.5)), q = std::exp(3 * std::tanh(2));
  OneLayer additive("AdditiveAttention");
  additive.Input(F32({1, 1, 1}, {1})).Input(F32({1, 2, 1}, {0.5, 1}));
  additive.Weight(F32({1}, {3}));
  ExpectNumbers(additive.Run(), {F32({1, 1, 1}, {(0.5 * p + q) / (p + q)})},
                1e-5);
}

TEST(Layers, OfTrainingOnly) {
  for (const std::string name :
       {"Dropout", "SpatialDropout2D", "GaussianNoise", "AlphaDropout",
        "ActivityRegularization", "RandomFlip", "RandomRotation"}) {
    OneLayer layer(name, R"({"rate": 0.5})");
    layer.Input(F32({1, 2}, {1, 2}));
    SCOPED_TRACE(name);
    ExpectNumbers(layer.Run(), {F32({1, 2}, {1, 2})});
  }
}

TEST(Layers, FunctionsWithoutALayer) {
  OneLayer add("TFOpLambda", R"({"function": "__operators__.add"})");
  add.Input(F32({2}, {1, 2})).Arguments(R"({"y": 3.0})");
  ExpectNumbers(add.Run(), {F32({2}, {4, 5})});
  OneLayer mean("TFOpLambda", R"({"function": "math.reduce_mean"})");
  mean.Input(F32({1, 2}, {1, 2}))
      .Arguments(R"({"axis": -1, "keepdims": true})");
  ExpectNumbers(mean.Run(), {F32({1, 1}, {1.5})});
  OneLayer relu6("TFOpLambda", R"({"function": "nn.relu6"})");
  relu6.Input(F32({2}, {-1, 9}));
  ExpectNumbers(relu6.Run(), {F32({2}, {0, 6})});
  OneLayer sine("TFOpLambda", R"({"function": "math.sin"})");
  sine.Input(F32({2}, {-1, 9}));
  ExpectNumbers(sine.Run(), {F32({2}, {std::sin(-1), std::sin(9)})});
}

TEST(Layers, OfApplications) {
  OneLayer scale("LayerScale", R"({"projection_dim": 2})");
  scale.Input(F32({1, 2}, {1, 2})).Weight(F32({2}, {10, 100}));
  ExpectNumbers(scale.Run(), {F32({1, 2}, {10, 200})});
  OneLayer custom("CustomScaleLayer", R"({"scale": 0.5})");
  custom.Input(F32({1}, {1})).Input(F32({1}, {4}));
  ExpectNumbers(custom.Run(), {F32({1}, {3})});
}

}  // namespace
}  // namespace ember::tests
