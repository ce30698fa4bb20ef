// Tests convolutions, pooling, normalization, products of matrices, images and
// quantization, against their formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::Flag;
using tensorflow::Float;
using tensorflow::Int;
using tensorflow::Ints;
using tensorflow::Text;
using tensorflow::Texts;
using tensorflow::Type;

// Returns [0, 1, 2 …] times the scale, so that every element differs.
Numbers Ramp(std::vector<int64_t> dims, double scale = 1) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(scale * static_cast<double>(i % 11 - 4));
  return F32(std::move(dims), std::move(values));
}

// Computes the convolution of x[1, h, w, c] with w[kh, kw, c, o] by its
// formula. `low` is the padding before rows and columns, and `extent` the
// number of rows and columns of the result.
Numbers Convolved(const Numbers& x, const Numbers& w, int64_t stride,
                  int64_t dilation, int64_t low, int64_t extent) {
  const int64_t h = x.dims[1], width = x.dims[2], c = x.dims[3];
  const int64_t kh = w.dims[0], kw = w.dims[1], o = w.dims[3];
  Numbers y = F32({1, extent, extent, o}, {});
  for (int64_t i = 0; i < extent; ++i) {
    for (int64_t j = 0; j < extent; ++j) {
      for (int64_t out = 0; out < o; ++out) {
        double sum = 0;
        for (int64_t a = 0; a < kh; ++a) {
          for (int64_t b = 0; b < kw; ++b) {
            const int64_t row = i * stride + a * dilation - low;
            const int64_t column = j * stride + b * dilation - low;
            if (row < 0 || row >= h || column < 0 || column >= width) continue;
            for (int64_t in = 0; in < c; ++in) {
              sum += x.values[static_cast<size_t>((row * width + column) * c +
                                                  in)] *
                     w.values[static_cast<size_t>(((a * kw + b) * c + in) * o +
                                                  out)];
            }
          }
        }
        y.values.push_back(sum);
      }
    }
  }
  return y;
}

// Returns an image [1, h, w, c] as [1, c, h, w], for operators whose data
// format is NCHW.
Numbers ChannelsFirst(const Numbers& x) {
  const int64_t h = x.dims[1], w = x.dims[2], c = x.dims[3];
  Numbers y = F32({1, c, h, w}, {});
  for (int64_t k = 0; k < c; ++k)
    for (int64_t i = 0; i < h * w; ++i)
      y.values.push_back(x.values[static_cast<size_t>(i * c + k)]);
  return y;
}

TEST(Layers, Convolution) {
  const Numbers x = Ramp({1, 5, 5, 2}), w = Ramp({3, 3, 2, 4}, 0.5);
  OneOp same("Conv2D");
  same.Input(x).Constant(w).Attribute(Ints("strides", {1, 2, 2, 1}));
  same.Attribute(Text("padding", "SAME"));
  ExpectNumbers(same.Run(), {Convolved(x, w, 2, 1, 1, 3)});
  OneOp valid("Conv2D");
  valid.Input(x).Constant(w).Attribute(Ints("strides", {1, 1, 1, 1}));
  valid.Attribute(Text("padding", "VALID"));
  valid.Attribute(Ints("dilations", {1, 2, 2, 1}));
  ExpectNumbers(valid.Run(), {Convolved(x, w, 1, 2, 0, 1)});
  OneOp given("Conv2D");
  given.Input(ChannelsFirst(x)).Constant(w);
  given.Attribute(Ints("strides", {1, 1, 1, 1}));
  given.Attribute(Text("padding", "EXPLICIT"));
  given.Attribute(Text("data_format", "NCHW"));
  given.Attribute(Ints("explicit_paddings", {0, 0, 0, 0, 2, 1, 2, 1}));
  ExpectNumbers(given.Run(), {ChannelsFirst(Convolved(x, w, 1, 1, 2, 6))});
}

TEST(Layers, DepthwiseConvolution) {
  // Each channel has two filters of its own. That equals a convolution whose
  // weights are zeros for all other channels.
  const Numbers x = Ramp({1, 4, 4, 3}), w = Ramp({2, 2, 3, 2});
  Numbers dense = F32({2, 2, 3, 6}, std::vector<double>(72));
  for (size_t k = 0; k < 4; ++k) {
    for (size_t c = 0; c < 3; ++c) {
      for (size_t m = 0; m < 2; ++m)
        dense.values[(k * 3 + c) * 6 + c * 2 + m] =
            w.values[(k * 3 + c) * 2 + m];
    }
  }
  OneOp op("DepthwiseConv2dNative");
  op.Input(x).Constant(w).Attribute(Ints("strides", {1, 1, 1, 1}));
  op.Attribute(Text("padding", "VALID"));
  ExpectNumbers(op.Run(), {Convolved(x, dense, 1, 1, 0, 3)});
}

// Computes a transposed convolution of x[1, h, h, 1] by its formula: y[i *
// stride + a - low] += x[i] * w[a], along rows and columns.
Numbers Transposed(const Numbers& x, const Numbers& w, int64_t stride,
                   int64_t low, int64_t extent) {
  const int64_t h = x.dims[1], k = w.dims[0];
  Numbers y = F32({1, extent, extent, 1},
                  std::vector<double>(static_cast<size_t>(extent * extent)));
  for (int64_t i = 0; i < h * h; ++i) {
    for (int64_t a = 0; a < k * k; ++a) {
      const int64_t row = i / h * stride + a / k - low;
      const int64_t column = i % h * stride + a % k - low;
      if (row < 0 || row >= extent || column < 0 || column >= extent) continue;
      y.values[static_cast<size_t>(row * extent + column)] +=
          x.values[static_cast<size_t>(i)] * w.values[static_cast<size_t>(a)];
    }
  }
  return y;
}

TEST(Layers, TransposedConvolution) {
  const Numbers x = Ramp({1, 3, 3, 1}), w = Ramp({3, 3, 1, 1});
  OneOp same("Conv2DBackpropInput");
  same.Constant(I32({4}, {1, 6, 6, 1})).Constant(w).Input(x);
  same.Attribute(Ints("strides", {1, 2, 2, 1}));
  same.Attribute(Text("padding", "SAME"));
  ExpectNumbers(same.Run(), {Transposed(x, w, 2, 0, 6)});
  OneOp valid("Conv2DBackpropInput");
  valid.Constant(I32({4}, {1, 7, 7, 1})).Constant(w).Input(x);
  valid.Attribute(Ints("strides", {1, 2, 2, 1}));
  valid.Attribute(Text("padding", "VALID"));
  ExpectNumbers(valid.Run(), {Transposed(x, w, 2, 0, 7)});
}

TEST(Layers, Convolution3D) {
  OneOp op("Conv3D");
  op.Input(F32({1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  op.Constant(F32({2, 2, 2, 1, 1}, {1, 0, 0, 0, 0, 0, 0, 2}));
  op.Attribute(Ints("strides", {1, 1, 1, 1, 1}));
  op.Attribute(Text("padding", "VALID"))
      .Attribute(Text("data_format", "NDHWC"));
  ExpectNumbers(op.Run(), {F32({1, 1, 1, 1, 1}, {17})});
}

TEST(Layers, FusedConvolution) {
  const Numbers x = Ramp({1, 3, 3, 1}), w = Ramp({2, 2, 1, 2});
  Numbers y = Convolved(x, w, 1, 1, 0, 2);
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = std::max(y.values[i] + (i % 2 == 0 ? 10 : -20), 0.0);
  OneOp op("_FusedConv2D");
  op.Input(x).Constant(w).Constant(F32({2}, {10, -20}));
  op.Attribute(Ints("strides", {1, 1, 1, 1}))
      .Attribute(Text("padding", "VALID"));
  op.Attribute(Texts("fused_ops", {"BiasAdd", "Relu"}));
  ExpectNumbers(op.Run(), {y});
}

TEST(Layers, Dilation) {
  OneOp op("Dilation2D");
  op.Input(F32({1, 2, 3, 1}, {1, 5, 2, 4, 3, 0}));
  op.Constant(F32({2, 2, 1}, {0, 1, 2, 3}));
  op.Attribute(Ints("strides", {1, 1, 1, 1}));
  op.Attribute(Ints("rates", {1, 1, 1, 1})).Attribute(Text("padding", "VALID"));
  ExpectNumbers(op.Run(), {F32({1, 1, 2, 1}, {6, 5})});
}

TEST(Layers, Pooling) {
  const Numbers x = F32({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto pool = [&](const char* op, const char* padding, bool first) {
    OneOp test(op);
    Numbers operand = x;
    if (first) operand.dims = {1, 1, 3, 3};
    test.Input(operand);
    test.Attribute(Ints("ksize", first ? std::vector<int64_t>{1, 1, 2, 2}
                                       : std::vector<int64_t>{1, 2, 2, 1}));
    test.Attribute(Ints("strides", first ? std::vector<int64_t>{1, 1, 2, 2}
                                         : std::vector<int64_t>{1, 2, 2, 1}));
    if (first) test.Attribute(Text("data_format", "NCHW"));
    return test.Attribute(Text("padding", padding)).Run();
  };
  ExpectNumbers(pool("MaxPool", "VALID", false), {F32({1, 1, 1, 1}, {5})});
  ExpectNumbers(pool("MaxPool", "SAME", false),
                {F32({1, 2, 2, 1}, {5, 6, 8, 9})});
  // AvgPool divides by the number of elements inside the image: the padding of
  // SAME does not count.
  ExpectNumbers(pool("AvgPool", "SAME", false),
                {F32({1, 2, 2, 1}, {3, 4.5, 7.5, 9})});
  ExpectNumbers(pool("AvgPool", "SAME", true),
                {F32({1, 1, 2, 2}, {3, 4.5, 7.5, 9})});
  OneOp cube("MaxPool3D");
  cube.Input(F32({1, 2, 1, 2, 1}, {1, 4, 3, 2}));
  cube.Attribute(Ints("ksize", {1, 2, 1, 1, 1}));
  cube.Attribute(Ints("strides", {1, 1, 1, 1, 1}));
  cube.Attribute(Text("padding", "VALID"));
  cube.Attribute(Text("data_format", "NDHWC"));
  ExpectNumbers(cube.Run(), {F32({1, 1, 1, 2, 1}, {3, 4})});
}

TEST(Layers, Normalization) {
  const double eps = 0.001;
  const auto normal = [&](double x, double m, double v, double s, double o) {
    return (x - m) / std::sqrt(v + eps) * s + o;
  };
  OneOp inference("FusedBatchNormV3");
  inference.Input(F32({1, 1, 2, 2}, {1, 2, 3, 4}));
  inference.Constant(F32({2}, {2, 3})).Constant(F32({2}, {0.5, 1}));
  inference.Constant(F32({2}, {1, -1})).Constant(F32({2}, {4, 9}));
  inference.Attribute(Float("epsilon", 0.001f));
  inference.Attribute(Flag("is_training", false));
  ExpectNumbers(
      inference.Run(),
      {F32({1, 1, 2, 2}, {normal(1, 1, 4, 2, 0.5), normal(2, -1, 9, 3, 1),
                          normal(3, 1, 4, 2, 0.5), normal(4, -1, 9, 3, 1)})});
  // In training the operator normalizes by the batch's own mean and variance,
  // which are results, too.
  OneOp training("FusedBatchNorm", 3);
  training.Input(F32({1, 1, 3, 1}, {1, 2, 6}));
  training.Constant(F32({1}, {1})).Constant(F32({1}, {0}));
  training.Constant(F32({0}, {})).Constant(F32({0}, {}));
  training.Attribute(Float("epsilon", 0.001f));
  const double variance = (4.0 + 1 + 9) / 3;
  ExpectNumbers(training.Run(),
                {F32({1, 1, 3, 1}, {normal(1, 3, variance, 1, 0),
                                    normal(2, 3, variance, 1, 0),
                                    normal(6, 3, variance, 1, 0)}),
                 F32({1}, {3}), F32({1}, {variance * 3 / 2})});
  OneOp response("LRN");
  response.Input(F32({1, 1, 1, 3}, {1, 2, 3}));
  response.Attribute(Int("depth_radius", 1)).Attribute(Float("bias", 1));
  response.Attribute(Float("alpha", 0.5f)).Attribute(Float("beta", 0.5f));
  ExpectNumbers(response.Run(),
                {F32({1, 1, 1, 3},
                     {1 / std::sqrt(1 + 0.5 * 5), 2 / std::sqrt(1 + 0.5 * 14),
                      3 / std::sqrt(1 + 0.5 * 13)})});
  OneOp bias("BiasAdd");
  bias.Input(F32({1, 2, 1, 2}, {1, 2, 3, 4})).Input(F32({2}, {10, 20}));
  bias.Attribute(Text("data_format", "NCHW"));
  ExpectNumbers(bias.Run(), {F32({1, 2, 1, 2}, {11, 12, 23, 24})});
}

TEST(Layers, Products) {
  OneOp product("MatMul");
  product.Input(F32({2, 2}, {1, 2, 3, 4})).Input(F32({2, 2}, {5, 6, 7, 8}));
  product.Attribute(Flag("transpose_a", true));
  ExpectNumbers(product.Run(), {F32({2, 2}, {26, 30, 38, 44})});
  OneOp batch("BatchMatMulV2");
  batch.Input(F32({2, 1, 2}, {1, 2, 3, 4})).Input(F32({1, 1, 2}, {5, 6}));
  batch.Attribute(Flag("adj_y", true));
  ExpectNumbers(batch.Run(), {F32({2, 1, 1}, {17, 39})});
  OneOp einsum("Einsum");
  einsum.Input(F32({2, 2}, {1, 2, 3, 4})).Input(F32({2}, {5, 6}));
  einsum.Attribute(Text("equation", "ij,j->i"));
  ExpectNumbers(einsum.Run(), {F32({2}, {17, 39})});
  OneOp cross("Cross");
  cross.Input(F32({3}, {1, 2, 3})).Input(F32({3}, {4, 5, 6}));
  ExpectNumbers(cross.Run(), {F32({3}, {-3, 6, -3})});
}

TEST(Layers, Images) {
  OneOp linear("ResizeBilinear");
  linear.Input(F32({1, 1, 2, 1}, {0, 4})).Constant(I32({2}, {1, 4}));
  ExpectNumbers(linear.Run(), {F32({1, 1, 4, 1}, {0, 2, 4, 4})});
  OneOp centers("ResizeBilinear");
  centers.Input(F32({1, 1, 2, 1}, {0, 4})).Constant(I32({2}, {1, 4}));
  centers.Attribute(Flag("half_pixel_centers", true));
  ExpectNumbers(centers.Run(), {F32({1, 1, 4, 1}, {0, 1, 3, 4})});
  OneOp corners("ResizeBilinear");
  corners.Input(F32({1, 1, 2, 1}, {0, 3})).Constant(I32({2}, {1, 4}));
  corners.Attribute(Flag("align_corners", true));
  ExpectNumbers(corners.Run(), {F32({1, 1, 4, 1}, {0, 1, 2, 3})});
  OneOp nearest("ResizeNearestNeighbor");
  nearest.Input(F32({1, 1, 2, 1}, {1, 2})).Constant(I32({2}, {2, 3}));
  ExpectNumbers(nearest.Run(), {F32({1, 2, 3, 1}, {1, 1, 2, 1, 1, 2})});
  OneOp contrast("AdjustContrastv2");
  contrast.Input(F32({1, 1, 2, 1}, {1, 3})).Input(F32({}, {2}));
  ExpectNumbers(contrast.Run(), {F32({1, 1, 2, 1}, {0, 4})});
  OneOp hsv("RGBToHSV");
  hsv.Input(F32({2, 3}, {1, 0, 0, 0.25, 0.5, 0.5}));
  ExpectNumbers(hsv.Run(), {F32({2, 3}, {0, 1, 1, 0.5, 0.5, 0.5})});
  OneOp rgb("HSVToRGB");
  rgb.Input(F32({2, 3}, {0, 1, 1, 0.5, 0.5, 0.5}));
  ExpectNumbers(rgb.Run(), {F32({2, 3}, {1, 0, 0, 0.25, 0.5, 0.5})});
}

TEST(Layers, Suppression) {
  const Numbers boxes = F32({3, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3});
  const Numbers scores = F32({3}, {0.9, 0.95, 0.5});
  OneOp third("NonMaxSuppressionV3");
  third.Input(boxes).Input(scores).Constant(I32({}, {3}));
  third.Constant(F32({}, {0.5})).Constant(F32({}, {0}));
  ExpectNumbers(third.Run(), {I32({2}, {1, 2})});
  OneOp fifth("NonMaxSuppressionV5", 3);
  fifth.Input(boxes).Input(scores).Constant(I32({}, {3}));
  fifth.Constant(F32({}, {0.5})).Constant(F32({}, {0.6}));
  fifth.Constant(F32({}, {0})).Attribute(Flag("pad_to_max_output_size", true));
  ExpectNumbers(fifth.Run(),
                {I32({3}, {1, 0, 0}), F32({3}, {0.95, 0, 0}), I32({}, {1})});
}

TEST(Layers, Quantization) {
  // The quantization has steps of 1/15, from -7 to 8 of them. The range was
  // moved so that 0 is a step.
  OneOp args("FakeQuantWithMinMaxArgs");
  args.Input(F32({4}, {-2, 0, 0.09, 5}));
  args.Attribute(Float("min", -0.45f)).Attribute(Float("max", 0.55f));
  args.Attribute(Int("num_bits", 4));
  const double step = 1.0 / 15;
  ExpectNumbers(args.Run(), {F32({4}, {-7 * step, 0, step, 8 * step})}, 1e-4);
  OneOp channels("FakeQuantWithMinMaxVarsPerChannel");
  channels.Input(F32({1, 2}, {0.3, 0.3})).Constant(F32({2}, {0, 0}));
  channels.Constant(F32({2}, {15, 1.5})).Attribute(Int("num_bits", 4));
  ExpectNumbers(channels.Run(), {F32({1, 2}, {0, 0.3})});
  OneOp both("QuantizeAndDequantizeV2");
  both.Input(F32({3}, {-2, 0.3, 1}))
      .Constant(F32({}, {-1}))
      .Constant(F32({}, {1}));
  both.Attribute(Flag("range_given", true)).Attribute(Int("num_bits", 8));
  ExpectNumbers(both.Run(),
                {F32({3}, {-1, std::nearbyint(0.3 * 127) / 127, 1})});
  OneOp back("Dequantize");
  back.Input(U8({3}, {0, 51, 255}))
      .Constant(F32({}, {-1}))
      .Constant(F32({}, {4}));
  ExpectNumbers(back.Run(), {F32({3}, {-1, 0, 4})});
}

}  // namespace
}  // namespace ember::tests
