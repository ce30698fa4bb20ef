// Tests quantized operators bit for bit against TensorFlow Lite's formulas,
// which are repeated here in plain C++ (gemmlowp's rounding).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/tflite/fixed_point_definition.h"
#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using Activation = schema::ActivationFunctionType;

void ExpectExactly(const StatusOr<std::vector<Numbers>>& results,
                   const Numbers& expected) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ((*results)[0].dims, expected.dims);
  EXPECT_EQ(DTypeName((*results)[0].type), DTypeName(expected.type));
  EXPECT_EQ((*results)[0].values, expected.values);
}

// The convolution is of [1, 4, 4, 3] by 3x3 with SAME padding and stride 2; it
// has 5 channels, each with its own scale.
TEST(Quantized, ConvolutionPerChannel) {
  RandomOperands random;
  for (int round = 0; round < 20; ++round) {
    const auto x = random.Integers(48, -128, 127);
    const auto w = random.Integers(5 * 9 * 3, -127, 127);
    const auto bias = random.Integers(5, -2000, 2000);
    const Scale in{random.Scale(0.001, 1), 7}, out{random.Scale(0.01, 1), -3};
    std::vector<float> scales;
    for (int i = 0; i < 5; ++i) scales.push_back(random.Scale(0.0001, 0.1));
    OneOperator op(Code::CONV_2D);
    op.Input({DType::kI8, {1, 4, 4, 3}, x}, in);
    op.ConstantWithScales({DType::kI8, {5, 3, 3, 3}, w}, scales, 0);
    op.Constant({DType::kI32, {5}, bias});
    op.Output(DType::kI8, {1, 2, 2, 5}, out);
    op.Options(schema::BuiltinOptions::Conv2DOptions,
               schema::CreateConv2DOptions(op.fbb(), schema::Padding::SAME, 2,
                                           2, Activation::RELU));
    std::vector<double> expected;
    for (int oy = 0; oy < 2; ++oy) {
      for (int ox = 0; ox < 2; ++ox) {
        for (int o = 0; o < 5; ++o) {
          auto sum = static_cast<int32_t>(bias[static_cast<size_t>(o)]);
          for (int dy = 0; dy < 3; ++dy) {
            for (int dx = 0; dx < 3; ++dx) {
              const int y = oy * 2 + dy, column = ox * 2 + dx;
              // For an image of 4x4, windows of 3x3 and a stride of 2, SAME
              // padding is one row at the bottom and one column at the right.
              if (y >= 4 || column >= 4) continue;
              for (int i = 0; i < 3; ++i) {
                sum += (static_cast<int>(
                            x[static_cast<size_t>((y * 4 + column) * 3 + i)]) -
                        7) *
                       static_cast<int>(w[static_cast<size_t>(
                           ((o * 3 + dy) * 3 + dx) * 3 + i)]);
              }
            }
          }
          const double scale = double{in.scale} *
                               scales[static_cast<size_t>(o)] /
                               double{out.scale};
          expected.push_back(
              Clamped(Scaled(sum, scale, Halves::kUp) - 3, DType::kI8, -3));
        }
      }
    }
    ExpectExactly(op.Run(), {DType::kI8, {1, 2, 2, 5}, expected});
  }
}

TEST(Quantized, DepthwisePerChannel) {
  RandomOperands random;
  for (int round = 0; round < 10; ++round) {
    const auto x = random.Integers(3 * 3 * 2, -128, 127);
    const auto w = random.Integers(3 * 3 * 4, -127, 127);
    const Scale in{random.Scale(0.01, 1), -5}, out{random.Scale(0.1, 1), 4};
    std::vector<float> scales;
    for (int i = 0; i < 4; ++i) scales.push_back(random.Scale(0.001, 0.1));
    OneOperator op(Code::DEPTHWISE_CONV_2D);
    op.Input({DType::kI8, {1, 3, 3, 2}, x}, in);
    op.ConstantWithScales({DType::kI8, {1, 3, 3, 4}, w}, scales, 3);
    op.Absent().Output(DType::kI8, {1, 1, 1, 4}, out);
    op.Options(schema::BuiltinOptions::DepthwiseConv2DOptions,
               schema::CreateDepthwiseConv2DOptions(
                   op.fbb(), schema::Padding::VALID, 1, 1, 2));
    std::vector<double> expected;
    for (size_t o = 0; o < 4; ++o) {
      int32_t sum = 0;
      for (size_t i = 0; i < 9; ++i)
        sum += (static_cast<int>(x[i * 2 + o / 2]) + 5) *
               static_cast<int>(w[i * 4 + o]);
      expected.push_back(Clamped(
          Scaled(sum, double{in.scale} * scales[o] / double{out.scale}) + 4,
          DType::kI8));
    }
    ExpectExactly(op.Run(), {DType::kI8, {1, 1, 1, 4}, expected});
  }
}

// The weights are unsigned bytes with a zero point, which the sums must
// subtract.
TEST(Quantized, FullyConnected) {
  RandomOperands random;
  for (int round = 0; round < 20; ++round) {
    const auto x = random.Integers(8, 0, 255), w = random.Integers(12, 0, 255);
    const auto bias = random.Integers(3, -5000, 5000);
    const Scale in{random.Scale(0.001, 1), 120},
        weights{random.Scale(0.001, 1), 131}, out{random.Scale(0.05, 1), 100};
    OneOperator op(Code::FULLY_CONNECTED);
    op.Input({DType::kU8, {2, 4}, x}, in)
        .Constant({DType::kU8, {3, 4}, w}, weights);
    op.Constant({DType::kI32, {3}, bias}).Output(DType::kU8, {2, 3}, out);
    std::vector<double> expected;
    for (size_t b = 0; b < 2; ++b) {
      for (size_t o = 0; o < 3; ++o) {
        auto sum = static_cast<int32_t>(bias[o]);
        for (size_t i = 0; i < 4; ++i)
          sum += (static_cast<int>(x[b * 4 + i]) - 120) *
                 (static_cast<int>(w[o * 4 + i]) - 131);
        expected.push_back(Clamped(
            Scaled(sum, double{in.scale} * weights.scale / double{out.scale},
                   Halves::kUp) +
                100,
            DType::kU8));
      }
    }
    ExpectExactly(op.Run(), {DType::kU8, {2, 3}, expected});
  }
}

// The inputs -6, -2, 2 and 6 have the scale 1/4: they are -1.5, -0.5, 0.5 and
// 1.5, halfway between integers. FULLY_CONNECTED rounds them up, the other
// operators away from zero.
TEST(Quantized, HalfwayCases) {
  const Numbers x{DType::kI8, {4, 1}, {-6, -2, 2, 6}};
  OneOperator dense(Code::FULLY_CONNECTED);
  dense.Input(x, {0.25f, 0}).Constant({DType::kI8, {1, 1}, {1}}, {1, 0});
  dense.Absent().Output(DType::kI8, {4, 1}, {1, 0});
  ExpectExactly(dense.Run(), {DType::kI8, {4, 1}, {-1, 0, 1, 2}});
  OneOperator each(Code::DEPTHWISE_CONV_2D);
  each.Input({DType::kI8, {1, 4, 1, 1}, x.values}, {0.25f, 0});
  each.Constant({DType::kI8, {1, 1, 1, 1}, {1}}, {1, 0}).Absent();
  each.Output(DType::kI8, {1, 4, 1, 1}, {1, 0});
  each.Options(schema::BuiltinOptions::DepthwiseConv2DOptions,
               schema::CreateDepthwiseConv2DOptions(
                   each.fbb(), schema::Padding::VALID, 1, 1, 1));
  ExpectExactly(each.Run(), {DType::kI8, {1, 4, 1, 1}, {-2, -1, 1, 2}});
  OneOperator again(Code::QUANTIZE);
  again.Input(x, {0.25f, 0}).Output(DType::kI8, {4, 1}, {1, 0});
  ExpectExactly(again.Run(), {DType::kI8, {4, 1}, {-2, -1, 1, 2}});
}

TEST(Quantized, AddAndSubtract) {
  RandomOperands random;
  for (int round = 0; round < 40; ++round) {
    const bool adds = round % 2 == 0;
    const bool wide = round % 4 >= 2;
    const DType type = wide ? DType::kI16 : DType::kI8;
    const int most = wide ? 32767 : 127;
    const auto a = random.Integers(64, -most, most),
               b = random.Integers(64, -most, most);
    const Scale sa{random.Scale(0.01, 1), wide ? 0 : 3},
        sb{random.Scale(0.01, 1), wide ? 0 : -9},
        sy{random.Scale(0.02, 2), wide ? 0 : 5};
    OneOperator op(adds ? Code::ADD : Code::SUB);
    op.Input({type, {64}, a}, sa)
        .Input({type, {64}, b}, sb)
        .Output(type, {64}, sy);
    const double twice = 2 * std::max(double{sa.scale}, double{sb.scale});
    const int bits = wide ? 15 : 20;
    std::vector<double> expected;
    for (size_t i = 0; i < 64; ++i) {
      const auto on_common = [&](double x, Scale s) {
        return Scaled(
            (static_cast<int32_t>(x) - static_cast<int32_t>(s.zero_point)) *
                (1 << bits),
            double{s.scale} / twice);
      };
      const int32_t left = on_common(a[i], sa), right = on_common(b[i], sb);
      const int32_t sum = adds ? left + right : left - right;
      expected.push_back(Clamped(
          Scaled(sum, twice / ((1 << bits) * double{sy.scale})) + sy.zero_point,
          type));
    }
    ExpectExactly(op.Run(), {type, {64}, expected});
  }
}

TEST(Quantized, Multiply) {
  RandomOperands random;
  for (int round = 0; round < 10; ++round) {
    const auto a = random.Integers(64, -128, 127),
               b = random.Integers(64, -128, 127);
    const Scale sa{random.Scale(0.01, 1), 3}, sb{random.Scale(0.01, 1), -9},
        sy{random.Scale(0.02, 2), 5};
    OneOperator op(Code::MUL);
    op.Input({DType::kI8, {64}, a}, sa)
        .Input({DType::kI8, {64}, b}, sb)
        .Output(DType::kI8, {64}, sy);
    std::vector<double> expected;
    for (size_t i = 0; i < 64; ++i) {
      const int32_t product =
          (static_cast<int>(a[i]) - 3) * (static_cast<int>(b[i]) + 9);
      expected.push_back(Clamped(
          Scaled(product, double{sa.scale} * sb.scale / double{sy.scale}) + 5,
          DType::kI8));
    }
    ExpectExactly(op.Run(), {DType::kI8, {64}, expected});
  }
}

// AVERAGE_POOL_2D rounds a mean of stored integers that is halfway between
// integers away from zero.
TEST(Quantized, AveragePool) {
  const std::vector<double> x = {-5, -4, 0, 1, 3, -2, 7, 8};
  OneOperator op(Code::AVERAGE_POOL_2D);
  op.Input({DType::kI8, {1, 2, 4, 1}, x}, {0.5f, 1})
      .Output(DType::kI8, {1, 1, 2, 1}, {0.5f, 1});
  op.Options(schema::BuiltinOptions::Pool2DOptions,
             schema::CreatePool2DOptions(op.fbb(), schema::Padding::VALID, 2, 2,
                                         2, 2));
  // The means of the two windows are (-5 - 4 + 3 - 2) / 4 = -2 and (0 + 1 + 7 +
  // 8) / 4 = 4.
  ExpectExactly(op.Run(), {DType::kI8, {1, 1, 2, 1}, {-2, 4}});
  OneOperator halves(Code::AVERAGE_POOL_2D);
  halves.Input({DType::kI8, {1, 1, 4, 1}, {-2, -1, 2, 1}}, {0.5f, 0})
      .Output(DType::kI8, {1, 1, 2, 1}, {0.5f, 0});
  halves.Options(schema::BuiltinOptions::Pool2DOptions,
                 schema::CreatePool2DOptions(
                     halves.fbb(), schema::Padding::VALID, 2, 1, 2, 1));
  ExpectExactly(halves.Run(), {DType::kI8, {1, 1, 2, 1}, {-2, 2}});
}

TEST(Quantized, Quantize) {
  const std::vector<double> x = {-100, -0.25, -0.24, 0.25, 0.75, 100};
  OneOperator op(Code::QUANTIZE);
  op.Input(F32({6}, x)).Output(DType::kI8, {6}, {0.5f, 1});
  ExpectExactly(op.Run(), {DType::kI8, {6}, {-128, 0, 1, 2, 3, 127}});
  OneOperator back(Code::DEQUANTIZE);
  back.Input({DType::kI8, {3}, {-128, 1, 127}}, {0.5f, 1})
      .Output(DType::kF32, {3});
  ExpectExactly(back.Run(), F32({3}, {-64.5, 0, 63}));
  RandomOperands random;
  const auto stored = random.Integers(100, -128, 127);
  const Scale from{0.37f, 3}, to{0.11f, -20};
  OneOperator again(Code::QUANTIZE);
  again.Input({DType::kI8, {100}, stored}, from).Output(DType::kI8, {100}, to);
  std::vector<double> expected;
  for (const double value : stored)
    expected.push_back(Clamped(Scaled(static_cast<int>(value) - 3,
                                      double{from.scale} / double{to.scale}) -
                                   20,
                               DType::kI8));
  ExpectExactly(again.Run(), {DType::kI8, {100}, expected});
}

// Tests all 256 operands of functions that are computed by tables.
TEST(Quantized, Tables) {
  std::vector<double> x;
  for (int i = -128; i < 128; ++i) x.push_back(i);
  const Scale in{0.05f, -10}, out{0.0078125f, 3};
  const std::pair<Code, float (*)(float)> cases[] = {
      {Code::TANH, [](float v) { return std::tanh(v); }},
      {Code::LOGISTIC, [](float v) { return 1.0f / (1.0f + std::exp(-v)); }},
      {Code::ELU, [](float v) { return v < 0 ? std::expm1(v) : v; }},
      {Code::EXP, [](float v) { return std::exp(v); }},
  };
  for (const auto& [code, function] : cases) {
    OneOperator op(code);
    op.Input({DType::kI8, {256}, x}, in).Output(DType::kI8, {256}, out);
    std::vector<double> expected;
    for (const double value : x) {
      const float real = in.scale * static_cast<float>(value + 10);
      const float rounded = std::round(function(real) * (1 / out.scale));
      expected.push_back(
          std::clamp(static_cast<double>(rounded) + 3, -128.0, 127.0));
    }
    ExpectExactly(op.Run(), {DType::kI8, {256}, expected});
  }
}

TEST(Quantized, Activations) {
  std::vector<double> x;
  for (int i = -128; i < 128; ++i) x.push_back(i);
  const Scale in{0.05f, -10}, out{0.03f, 3};
  const double scale = double{in.scale} / double{out.scale};
  OneOperator relu(Code::RELU6);
  relu.Input({DType::kI8, {256}, x}, in).Output(DType::kI8, {256}, out);
  OneOperator leaky(Code::LEAKY_RELU);
  leaky.Input({DType::kI8, {256}, x}, in).Output(DType::kI8, {256}, out);
  leaky.Options(schema::BuiltinOptions::LeakyReluOptions,
                schema::CreateLeakyReluOptions(leaky.fbb(), 0.3f));
  std::vector<double> bounded, sloped;
  for (const double value : x) {
    const int32_t centered = static_cast<int32_t>(value) + 10;
    bounded.push_back(
        std::min(Clamped(Scaled(centered, scale) + 3, DType::kI8, 3), 203.0));
    const double slope = centered < 0 ? scale * double{0.3f} : scale;
    sloped.push_back(Clamped(Scaled(centered, slope) + 3, DType::kI8));
  }
  ExpectExactly(relu.Run(), {DType::kI8, {256}, bounded});
  ExpectExactly(leaky.Run(), {DType::kI8, {256}, sloped});
}

// For 16-bit activations and 8-bit weights, biases have 64 bits, and a sum is
// rounded only once, by a multiplier of 15 bits.
TEST(Quantized, SixteenBits) {
  RandomOperands random;
  const auto x = random.Integers(8, -32768, 32767),
             w = random.Integers(8, -127, 127);
  const Scale in{0.0001f, 0}, weights{0.01f, 0}, out{0.0007f, 0};
  OneOperator op(Code::FULLY_CONNECTED);
  op.Input({DType::kI16, {1, 8}, x}, in)
      .Constant({DType::kI8, {1, 8}, w}, weights);
  op.Constant({DType::kI64, {1}, {12345}}).Output(DType::kI16, {1, 1}, out);
  int64_t sum = 12345;
  for (size_t i = 0; i < 8; ++i) sum += static_cast<int64_t>(x[i] * w[i]);
  int shift = 0;
  const auto multiplier = static_cast<int64_t>(std::round(
      std::frexp(double{in.scale} * weights.scale / double{out.scale}, &shift) *
      2147483648.0));
  const int64_t narrow = (multiplier + (1 << 15)) >> 16;
  const int64_t y =
      (sum * narrow + (int64_t{1} << (14 - shift))) >> (15 - shift);
  ExpectExactly(op.Run(), {DType::kI16, {1, 1}, {Clamped(y, DType::kI16)}});
}

// A product of floats and weights of 8 bits: each row of the float operand is
// quantized to [-127, 127] by its largest magnitude.
TEST(Quantized, HybridFullyConnected) {
  const std::vector<double> x = {0.5, -1, 0.25, 3, 1, -6};
  const std::vector<double> w = {10, -20, 30, 127, 0, -64};
  OneOperator op(Code::FULLY_CONNECTED);
  op.Input(F32({2, 3}, x)).Constant({DType::kI8, {2, 3}, w}, {0.02f, 0});
  op.Constant(F32({2}, {0.125, -1})).Output(DType::kF32, {2, 2});
  std::vector<double> expected;
  for (size_t b = 0; b < 2; ++b) {
    double range = 0;
    for (size_t i = 0; i < 3; ++i)
      range = std::max(range, std::abs(x[b * 3 + i]));
    for (size_t o = 0; o < 2; ++o) {
      double sum = 0;
      for (size_t i = 0; i < 3; ++i)
        sum += std::round(x[b * 3 + i] * 127 / range) * w[o * 3 + i];
      expected.push_back(sum * range / 127 * 0.02 + (o == 0 ? 0.125 : -1));
    }
  }
  ExpectNumbers(op.Run(), {F32({2, 2}, expected)});
}

}  // namespace
}  // namespace ember::tests
