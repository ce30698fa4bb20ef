// Tests float layers against their definitions: convolutions, pooling,
// products, reductions, resizing, recurrent layers.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/tflite/one_operator.h"

namespace ember::tests {
namespace {

using Code = schema::BuiltinOperator;
using Activation = schema::ActivationFunctionType;
using schema::BuiltinOptions;
using schema::Padding;

// Returns numbers that all differ and alternate in sign: 1, -2, 3, -4 ….
std::vector<double> Sequence(int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i % 2 == 0 ? i + 1 : -i - 1));
  return values;
}

struct Image {
  int64_t height, width, channels;
  std::vector<double> values;
  double At(int64_t y, int64_t x, int64_t c) const {
    if (y < 0 || x < 0 || y >= height || x >= width) return 0;
    return values[static_cast<size_t>((y * width + x) * channels + c)];
  }
};

// The input has 4 channels in two groups, and each filter has weights for the 2
// channels of its group.
TEST(Layers, GroupedDilatedConvolution) {
  const Image x{5, 5, 4, Sequence(100)};
  const std::vector<double> w = Sequence(2 * 3 * 3 * 2);
  OneOperator op(Code::CONV_2D);
  op.Input(F32({1, 5, 5, 4}, x.values)).Constant(F32({2, 3, 3, 2}, w));
  op.Constant(F32({2}, {0.5, -0.5})).Output(DType::kF32, {1, 1, 1, 2});
  op.Options(BuiltinOptions::Conv2DOptions,
             schema::CreateConv2DOptions(op.fbb(), Padding::VALID, 1, 1,
                                         Activation::NONE, 2, 2));
  std::vector<double> expected;
  for (int64_t o = 0; o < 2; ++o) {
    double sum = o == 0 ? 0.5 : -0.5;
    for (int64_t dy = 0; dy < 3; ++dy) {
      for (int64_t dx = 0; dx < 3; ++dx) {
        for (int64_t i = 0; i < 2; ++i)
          sum += x.At(2 * dy, 2 * dx, o * 2 + i) *
                 w[static_cast<size_t>(((o * 3 + dy) * 3 + dx) * 2 + i)];
      }
    }
    expected.push_back(sum);
  }
  ExpectNumbers(op.Run(), {F32({1, 1, 1, 2}, expected)});
}

// The expected result adds each element, times the kernel, to all positions
// that a convolution with the same padding and strides would read to compute
// that element.
TEST(Layers, TransposedConvolution) {
  const Image x{2, 2, 1, {1, 2, 3, 4}};
  const std::vector<double> w = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  for (const Padding padding : {Padding::SAME, Padding::VALID}) {
    const int64_t extent = padding == Padding::SAME ? 4 : 5;
    OneOperator op(Code::TRANSPOSE_CONV);
    op.Constant(I32(
        {4}, {1, static_cast<double>(extent), static_cast<double>(extent), 1}));
    op.Constant(F32({1, 3, 3, 1}, w)).Input(F32({1, 2, 2, 1}, x.values));
    op.Output(DType::kF32, {1, extent, extent, 1});
    op.Options(BuiltinOptions::TransposeConvOptions,
               schema::CreateTransposeConvOptions(op.fbb(), padding, 2, 2));
    // The padding is SAME: one row of the 5 is cut off, at the end.
    std::vector<double> expected(static_cast<size_t>(extent * extent));
    for (int64_t y = 0; y < 2; ++y) {
      for (int64_t c = 0; c < 2; ++c) {
        for (int64_t dy = 0; dy < 3; ++dy) {
          for (int64_t dx = 0; dx < 3; ++dx) {
            const int64_t oy = y * 2 + dy, ox = c * 2 + dx;
            if (oy < extent && ox < extent)
              expected[static_cast<size_t>(oy * extent + ox)] +=
                  x.At(y, c, 0) * w[static_cast<size_t>(dy * 3 + dx)];
          }
        }
      }
    }
    ExpectNumbers(op.Run(), {F32({1, extent, extent, 1}, expected)});
  }
}

TEST(Layers, Convolution3D) {
  OneOperator op(Code::CONV_3D);
  op.Input(F32({1, 2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8}));
  op.Constant(F32({2, 2, 2, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 2}));
  op.Output(DType::kF32, {1, 1, 1, 1, 1});
  op.Options(BuiltinOptions::Conv3DOptions,
             schema::CreateConv3DOptions(op.fbb(), Padding::VALID, 1, 1, 1));
  ExpectNumbers(op.Run(), {F32({1, 1, 1, 1, 1}, {44})});
  OneOperator back(Code::CONV_3D_TRANSPOSE);
  back.Constant(I32({5}, {1, 2, 1, 1, 1}));
  back.Constant(F32({2, 1, 1, 1, 1}, {3, 5}));
  back.Input(F32({1, 1, 1, 1, 1}, {2})).Output(DType::kF32, {1, 2, 1, 1, 1});
  back.Options(
      BuiltinOptions::Conv3DOptions,
      schema::CreateConv3DOptions(back.fbb(), Padding::VALID, 1, 1, 1));
  ExpectNumbers(back.Run(), {F32({1, 2, 1, 1, 1}, {6, 10})});
}

// The padding is SAME. Padded positions do not count in the mean of a window.
TEST(Layers, Pooling) {
  const std::vector<double> x = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::pair<Code, std::vector<double>> cases[] = {
      {Code::AVERAGE_POOL_2D, {3, 4.5, 7.5, 9}},
      {Code::MAX_POOL_2D, {5, 6, 8, 9}},
      {Code::L2_POOL_2D,
       {std::sqrt(46 / 4.0), std::sqrt(45 / 2.0), std::sqrt(113 / 2.0), 9}},
  };
  for (const auto& [code, expected] : cases) {
    SCOPED_TRACE(schema::EnumNameBuiltinOperator(code));
    OneOperator op(code);
    op.Input(F32({1, 3, 3, 1}, x)).Output(DType::kF32, {1, 2, 2, 1});
    op.Options(
        BuiltinOptions::Pool2DOptions,
        schema::CreatePool2DOptions(op.fbb(), Padding::SAME, 2, 2, 2, 2));
    ExpectNumbers(op.Run(), {F32({1, 2, 2, 1}, expected)});
  }
}

TEST(Layers, Products) {
  OneOperator dense(Code::FULLY_CONNECTED);
  dense.Input(F32({2, 1, 2}, {1, 2, 3, 4}))
      .Constant(F32({3, 2}, {1, 0, 0, 1, 1, 1}));
  dense.Constant(F32({3}, {10, 20, 30})).Output(DType::kF32, {2, 1, 3});
  dense.Options(BuiltinOptions::FullyConnectedOptions,
                schema::CreateFullyConnectedOptions(
                    dense.fbb(), Activation::NONE,
                    schema::FullyConnectedOptionsWeightsFormat::DEFAULT, true));
  ExpectNumbers(dense.Run(), {F32({2, 1, 3}, {11, 22, 33, 13, 24, 37})});
  OneOperator batch(Code::BATCH_MATMUL);
  batch.Input(F32({1, 2, 2}, {1, 2, 3, 4})).Input(F32({2, 2, 1}, {1, 1, 2, 0}));
  batch.Output(DType::kF32, {2, 2, 1});
  ExpectNumbers(batch.Run(), {F32({2, 2, 1}, {3, 7, 2, 6})});
  OneOperator adjoint(Code::BATCH_MATMUL);
  adjoint.Input(F32({2, 2}, {1, 2, 3, 4})).Input(F32({2, 2}, {1, 0, 1, 1}));
  adjoint.Output(DType::kF32, {2, 2});
  adjoint.Options(BuiltinOptions::BatchMatMulOptions,
                  schema::CreateBatchMatMulOptions(adjoint.fbb(), true, true));
  ExpectNumbers(adjoint.Run(), {F32({2, 2}, {1, 4, 2, 6})});
}

TEST(Layers, Reductions) {
  const std::vector<double> x = {1, -2, 3, 4, 5, -6};
  const std::pair<Code, std::vector<double>> cases[] = {
      {Code::SUM, {2, 3}},
      {Code::MEAN, {2 / 3.0, 1}},
      {Code::REDUCE_MAX, {3, 5}},
      {Code::REDUCE_MIN, {-2, -6}},
      {Code::REDUCE_PROD, {-6, -120}},
  };
  for (const auto& [code, expected] : cases) {
    SCOPED_TRACE(schema::EnumNameBuiltinOperator(code));
    OneOperator op(code);
    op.Input(F32({2, 3}, x)).Constant(I32({1}, {-1}));
    op.Output(DType::kF32, {2, 1});
    op.Options(BuiltinOptions::ReducerOptions,
               schema::CreateReducerOptions(op.fbb(), true));
    ExpectNumbers(op.Run(), {F32({2, 1}, expected)});
  }
  const Numbers flags{DType::kBool, {2, 2}, {0, 1, 1, 1}};
  OneOperator any(Code::REDUCE_ANY), all(Code::REDUCE_ALL);
  any.Input(flags).Constant(I32({1}, {1})).Output(DType::kBool, {2});
  all.Input(flags).Constant(I32({1}, {1})).Output(DType::kBool, {2});
  ExpectNumbers(any.Run(), {{DType::kBool, {2}, {1, 1}}});
  ExpectNumbers(all.Run(), {{DType::kBool, {2}, {0, 1}}});
}

TEST(Layers, ResizeBilinear) {
  // A row of two elements is resized to four by each of three rules for the
  // positions (aligned corners, half-pixel centers, neither).
  const struct {
    bool align_corners, half_pixel;
    std::vector<double> expected;
  } cases[] = {
      {false, false, {1, 2, 3, 3}},
      {true, false, {1, 1 + 2 / 3.0, 1 + 4 / 3.0, 3}},
      {false, true, {1, 1.5, 2.5, 3}},
  };
  for (const auto& test : cases) {
    OneOperator op(Code::RESIZE_BILINEAR);
    op.Input(F32({1, 1, 2, 1}, {1, 3})).Constant(I32({2}, {1, 4}));
    op.Output(DType::kF32, {1, 1, 4, 1});
    op.Options(BuiltinOptions::ResizeBilinearOptions,
               schema::CreateResizeBilinearOptions(op.fbb(), test.align_corners,
                                                   test.half_pixel));
    ExpectNumbers(op.Run(), {F32({1, 1, 4, 1}, test.expected)});
  }
}

TEST(Layers, ResizeNearest) {
  const struct {
    bool align_corners, half_pixel;
    std::vector<double> expected;
  } cases[] = {
      {false, false, {1, 1, 2, 2, 3}},
      {true, false, {1, 2, 2, 3, 3}},
      {false, true, {1, 1, 2, 3, 3}},
  };
  for (const auto& test : cases) {
    OneOperator op(Code::RESIZE_NEAREST_NEIGHBOR);
    op.Input(F32({1, 1, 3, 1}, {1, 2, 3})).Constant(I32({2}, {1, 5}));
    op.Output(DType::kF32, {1, 1, 5, 1});
    op.Options(BuiltinOptions::ResizeNearestNeighborOptions,
               schema::CreateResizeNearestNeighborOptions(
                   op.fbb(), test.align_corners, test.half_pixel));
    ExpectNumbers(op.Run(), {F32({1, 1, 5, 1}, test.expected)});
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// An LSTM of one unit and one input; the gates are in the order input, forget,
// cell, output.
struct Lstm {
  double input_weights[4], recurrent[4], bias[4];
  double hidden = 0, cell = 0;
  double Step(double x) {
    double gate[4];
    for (int i = 0; i < 4; ++i)
      gate[i] = input_weights[i] * x + recurrent[i] * hidden + bias[i];
    cell = Sigmoid(gate[1]) * cell + Sigmoid(gate[0]) * std::tanh(gate[2]);
    hidden = Sigmoid(gate[3]) * std::tanh(cell);
    return hidden;
  }
};

// The state after a run is the initial state of the next one.
TEST(Layers, UnidirectionalLstm) {
  Lstm lstm{{0.5, -0.25, 1, 0.75}, {0.1, 0.2, -0.3, 0.4}, {0, 1, 0.5, -0.5}};
  OneOperator op(Code::UNIDIRECTIONAL_SEQUENCE_LSTM);
  op.Input(F32({1, 3, 1}, {1, -2, 3}));
  for (const double w : lstm.input_weights) op.Constant(F32({1, 1}, {w}));
  for (const double w : lstm.recurrent) op.Constant(F32({1, 1}, {w}));
  for (int i = 0; i < 3; ++i) op.Absent();
  for (const double b : lstm.bias) op.Constant(F32({1}, {b}));
  op.Absent().Absent();
  op.Variable(DType::kF32, {1, 1}).Variable(DType::kF32, {1, 1});
  op.Output(DType::kF32, {1, 3, 1});
  op.Options(BuiltinOptions::UnidirectionalSequenceLSTMOptions,
             schema::CreateUnidirectionalSequenceLSTMOptions(op.fbb(),
                                                             Activation::TANH));
  std::vector<Numbers> state = {F32({1, 1}, {0}), F32({1, 1}, {0})};
  for (int run = 0; run < 2; ++run) {
    std::vector<double> expected;
    for (const double x : {1, -2, 3}) expected.push_back(lstm.Step(x));
    const auto results = op.Run(state);
    ExpectNumbers(results,
                  {F32({1, 3, 1}, expected), F32({1, 1}, {lstm.hidden}),
                   F32({1, 1}, {lstm.cell})});
    ASSERT_TRUE(results.ok());
    state = {(*results)[1], (*results)[2]};
  }
}

TEST(Layers, Rnn) {
  OneOperator op(Code::UNIDIRECTIONAL_SEQUENCE_RNN);
  op.Input(F32({1, 3, 1}, {1, 2, -1})).Constant(F32({1, 1}, {0.5}));
  op.Constant(F32({1, 1}, {2})).Constant(F32({1}, {0.25}));
  op.Variable(DType::kF32, {1, 1}).Output(DType::kF32, {1, 3, 1});
  op.Options(
      BuiltinOptions::SequenceRNNOptions,
      schema::CreateSequenceRNNOptions(op.fbb(), false, Activation::NONE));
  // The layer computes h = 0.5 x + 2 h + 0.25 in each step. The state given to
  // the run, h, is 1.
  ExpectNumbers(op.Run({F32({1, 1}, {1})}),
                {F32({1, 3, 1}, {2.75, 6.75, 13.25}), F32({1, 1}, {13.25})});
  OneOperator one(Code::RNN);
  one.Input(F32({1, 1}, {1})).Constant(F32({1, 1}, {0.5}));
  one.Constant(F32({1, 1}, {2})).Constant(F32({1}, {0.25}));
  one.Variable(DType::kF32, {1, 1}).Output(DType::kF32, {1, 1});
  ExpectNumbers(one.Run({F32({1, 1}, {1})}),
                {F32({1, 1}, {2.75}), F32({1, 1}, {2.75})});
}

// The operator has two filters of one unit, which remember three steps.
TEST(Layers, Svdf) {
  OneOperator op(Code::SVDF);
  op.Input(F32({1, 2}, {1, 2})).Constant(F32({2, 2}, {1, 1, 2, -1}));
  op.Constant(F32({2, 3}, {1, 10, 100, 2, 20, 200})).Constant(F32({1}, {0.5}));
  op.Variable(DType::kF32, {1, 6}).Output(DType::kF32, {1, 1});
  op.Options(BuiltinOptions::SVDFOptions,
             schema::CreateSVDFOptions(op.fbb(), 2, Activation::NONE));
  // For the new input, the products with the filters over features (rows 1 1
  // and 2 -1) are 3 and 0. They are appended to each filter's memory, which
  // becomes (5, 6, 3) and (8, 9, 0).
  const double expected = 5 + 60 + 300 + 2 * 8 + 20 * 9 + 0.5;
  ExpectNumbers(op.Run({F32({1, 6}, {4, 5, 6, 7, 8, 9})}),
                {F32({1, 1}, {expected}), F32({1, 6}, {5, 6, 3, 8, 9, 0})});
}

}  // namespace
}  // namespace ember::tests
