// Tests operators of the com.microsoft domain other than attention, by cases
// worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;

using Floats = std::vector<double>;
using Bytes = std::vector<double>;
using Results = StatusOr<std::vector<Numbers>>;

OneNode Contrib(const std::string& op_type, int outputs = 1) {
  return OneNode(op_type, 1, outputs, "com.microsoft");
}

void ExpectExact(DType type, const Results& results,
                 const std::vector<int64_t>& dims, const Floats& want,
                 int index = 0, double tolerance = 0) {
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  ExpectNumbers(std::vector<Numbers>{(*results)[index]},
                {Numbers{type, dims, want}}, tolerance);
}

void Expect(const Results& results, const std::vector<int64_t>& dims,
            const Floats& want, int index = 0) {
  ExpectExact(DType::kF32, results, dims, want, index, 1e-5);
}

TEST(ContribActivation, GelusOfOne) {
  OneNode bias = Contrib("BiasGelu");
  bias.Input(F32({1, 2}, {0.25, 0})).Input(F32({2}, {0.75, 0}));
  Expect(bias.Run(), {1, 2}, {0.8413447, 0});
  OneNode fast = Contrib("FastGelu");
  fast.Input(F32({1}, {1}));
  Expect(fast.Run(), {1}, {0.8411920});
  OneNode quick = Contrib("QuickGelu");
  quick.Input(F32({1}, {1})).Attribute({"alpha", 2.0});
  Expect(quick.Run(), {1}, {1 / (1 + std::exp(-2.0))});
  OneNode split = Contrib("BiasSplitGelu");
  split.Input(F32({1, 1, 2}, {3, 0.5})).Input(F32({2}, {1, 0.5}));
  Expect(split.Run(), {1, 1, 1}, {4 * 0.8413447});
}

TEST(ContribActivation, DropoutKeepsEverything) {
  OneNode node = Contrib("BiasDropout", 2);
  node.Input(F32({2}, {1, 2})).Input(F32({2}, {10, 20}));
  node.Input(F32({2}, {100, 200}));
  Expect(node.Run(), {2}, {111, 222});
  OneNode bits = Contrib("BitmaskDropout", 2);
  bits.Input(F32({33}, Floats(33, 1)));
  ExpectExact(DType::kU32, bits.Run(), {2}, {0xffffffffu, 0xffffffffu}, 1);
}

TEST(ContribActivation, BiasSoftmaxFlattensFromItsAxis) {
  OneNode node = Contrib("BiasSoftmax");
  node.Input(F32({1, 2, 2}, {0, 0, 0, 0}));
  node.Input(F32({1, 1, 2}, {0, std::log(3.0)})).Attribute({"axis", 1});
  Expect(node.Run(), {1, 2, 2}, {0.125, 0.375, 0.125, 0.375});
}

TEST(ContribNormalization, SkipLayerNormalizationAndItsSum) {
  OneNode node = Contrib("SkipLayerNormalization", 4);
  node.Input(F32({1, 1, 2}, {1, 2})).Input(F32({1, 2}, {3, 5}));
  node.Input(F32({2}, {2, 2})).Input(F32({2}, {1, 1}));
  node.Input(F32({2}, {0, 1}));
  const Results results = node.Run();
  Expect(results, {1, 1, 2}, {-1, 3});
  Expect(results, {1, 1, 1}, {6}, 1);
  Expect(results, {1, 1, 1}, {0.5}, 2);
  Expect(results, {1, 1, 2}, {4, 8}, 3);
}

TEST(ContribNormalization, SimplifiedIsByTheMeanSquare) {
  OneNode skip = Contrib("SkipSimplifiedLayerNormalization");
  skip.Input(F32({1, 2}, {3, 3})).Input(F32({1, 2}, {0, 1}));
  skip.Input(F32({2}, {1, 2})).Attribute({"epsilon", 0.0});
  const double root = std::sqrt(12.5);
  Expect(skip.Run(), {1, 2}, {3 / root, 8 / root});
  // ONNX Runtime also writes this operator with the default domain and any
  // opset, so that form is tested, too.
  OneNode plain("SimplifiedLayerNormalization", 12);
  plain.Input(F32({1, 2}, {3, 4})).Input(F32({2}, {1, 2}));
  plain.Attribute({"epsilon", 0.0});
  Expect(plain.Run(), {1, 2}, {3 / root, 8 / root});
}

TEST(ContribNormalization, EmbeddingsAreSummedAndNormalized) {
  OneNode node = Contrib("EmbedLayerNormalization", 3);
  node.Input(I32({1, 2}, {1, 0})).Absent();
  node.Constant(F32({2, 2}, {1, 3, 10, 20}));
  node.Constant(F32({3, 2}, {0, 0, 2, 4, 9, 9})).Absent();
  node.Constant(F32({2}, {1, 1})).Constant(F32({2}, {0, 5}));
  node.Input(I32({1, 2}, {1, 0}));
  const Results results = node.Run();
  Expect(results, {1, 2, 2}, {-1, 6, -1, 6});
  ExpectExact(DType::kI32, results, {1}, {1}, 1);
  Expect(results, {1, 2, 2}, {10, 20, 3, 7}, 2);
}

TEST(ContribNormalization, GroupNormInBothLayouts) {
  // The first group has the values 0 and 2, the second one 10 and 12. Each
  // group is one channel.
  for (const int channels_last : {1, 0}) {
    OneNode node = Contrib("SkipGroupNorm", 2);
    node.Input(F32({1, 2, 1, 2}, channels_last == 1 ? Floats{0, 10, 2, 12}
                                                    : Floats{0, 2, 10, 12}));
    // If the channels are last, axis 1 of x has two rows; if they are first, it
    // has two channels.
    node.Constant(F32({2}, {1, 2})).Constant(F32({2}, {0, 1}));
    node.Input(F32({1, 2}, {5, 7})).Attribute({"groups", 2});
    node.Attribute({"activation", 0}).Attribute({"epsilon", 0.0});
    node.Attribute({"channels_last", channels_last});
    const Results results = node.Run();
    Expect(results, {1, 2, 1, 2},
           channels_last == 1 ? Floats{-1, -1, 1, 3} : Floats{-1, 1, -1, 3});
    Expect(results, {1, 2, 1, 2},
           channels_last == 1 ? Floats{5, 17, 7, 19} : Floats{5, 7, 17, 19}, 1);
  }
}

TEST(ContribContraction, FusedMatMulTransposesBatches) {
  // The attribute transBatchA means that the first operand is a[k][batch][m].
  // In each batch a column is multiplied by a row.
  OneNode node = Contrib("FusedMatMul");
  node.Input(F32({2, 2, 1}, {1, 2, 3, 4})).Input(F32({2, 1, 1}, {5, 6}));
  node.Attribute({"transBatchA", 1}).Attribute({"alpha", 2.0});
  // So the first operand is the column (1, 3) in batch 0 and the column (2, 4)
  // in batch 1.
  Expect(node.Run(), {2, 2, 1}, {10, 30, 24, 48});
}

TEST(ContribContraction, ActivationsOfFusedOperators) {
  OneNode gemm = Contrib("FusedGemm");
  gemm.Input(F32({1, 2}, {1, -2})).Input(F32({1, 2}, {1, 1}));
  gemm.Input(F32({1}, {-1})).Attribute({"transB", 1});
  gemm.Attribute({"activation", "LeakyRelu"});
  gemm.Attribute({"activation_alpha", 0.5});
  Expect(gemm.Run(), {1, 1}, {-1});
  OneNode conv = Contrib("NhwcFusedConv");
  conv.Input(F32({1, 1, 2, 1}, {1, 2})).Constant(F32({2, 1, 1, 1}, {1, -1}));
  conv.Absent().Input(F32({1, 1, 2, 2}, {0, 0.5, 0, 3}));
  conv.Attribute({"activation", "Relu"});
  Expect(conv.Run(), {1, 1, 2, 2}, {1, 0, 2, 1});
  OneNode unknown = Contrib("FusedGemm");
  unknown.Input(F32({1, 1}, {1})).Input(F32({1, 1}, {1}));
  unknown.Attribute({"activation", "Snake"});
  EXPECT_THAT(unknown.Run().status().ToString(),
              HasSubstr("activation 'Snake' is not supported"));
}

// Each weight matrix has a row of sixteen numbers: 1 and -2 times the scale,
// and otherwise 0. They are stored in 2, 4 or 8 bits.
TEST(QuantizedWeights, MatMulNBitsOfEveryWidth) {
  struct Case {
    int bits;
    Bytes weights, zero_point;
  };
  Bytes four(8, 0x88), two(4, 0xaa), eight(16, 0x80), low(8, 0x33);
  four[0] = 0x69;  // the two numbers 9 - 8 = 1 and 6 - 8 = -2, of 4 bits each
  two[0] = 0xa3;   // the two numbers 3 - 2 = 1 and 0 - 2 = -2, of 2 bits each
  eight[0] = 0x81;
  eight[1] = 0x7e;
  // The two numbers 4 - 3 = 1 and 1 - 3 = -2, of 4 bits each, with the zero
  // point 3.
  low[0] = 0x14;
  for (const Case& c : {Case{4, four, {}}, Case{2, two, {}}, Case{8, eight, {}},
                        Case{4, low, {0x03}}}) {
    OneNode node = Contrib("MatMulNBits");
    Floats x(16, 1);
    x[0] = 10;
    node.Input(F32({1, 16}, x));
    node.Constant(
        U8({1, 1, static_cast<int64_t>(c.weights.size())}, c.weights));
    node.Constant(F32({1, 1}, {0.5}));
    if (c.zero_point.empty()) {
      node.Absent();
    } else {
      node.Constant(U8({1, 1}, c.zero_point));
    }
    node.Absent().Constant(F32({1}, {100}));
    node.Attribute({"K", 16}).Attribute({"N", 1}).Attribute({"bits", c.bits});
    node.Attribute({"block_size", 16});
    Expect(node.Run(), {1, 1}, {(10 - 2) * 0.5 + 100});
  }
}

// Returns the code number `at` of a row of packed weights, whose codes have
// `bits` bits each.
int CodeOf(const Bytes& rows, int64_t row_bytes, int64_t row, int64_t at,
           int bits) {
  const auto byte = static_cast<int>(
      rows[static_cast<size_t>(row * row_bytes + at * bits / 8)]);
  return (byte >> (at * bits % 8)) & ((1 << bits) - 1);
}

// At accuracy level 4 the activations of a block are rounded to 127 steps of
// either sign. The activations here are whole steps.
TEST(QuantizedWeights, MatMulNBitsRoundsActivationsWhereTheModelAllowsIt) {
  constexpr int kRows = 40, kBlocks = 3, kBlock = 16;
  for (const int bits : {4, 2, 8}) {
    for (const bool has_zeros : {false, true}) {
      SCOPED_TRACE(std::to_string(bits) + " bits" +
                   (has_zeros ? " and zero points" : ""));
      const int64_t row_bytes = kBlocks * kBlock * bits / 8;
      const int64_t zero_bytes = (kBlocks * bits + 7) / 8;
      Bytes weights(kRows * row_bytes), zeros(kRows * zero_bytes);
      for (size_t i = 0; i < weights.size(); ++i)
        weights[i] = static_cast<double>((i * 89 + i / 7) % 256);
      for (size_t i = 0; i < zeros.size(); ++i)
        zeros[i] = static_cast<double>((i * 37 + 5) % 256);
      Floats x(kBlocks * kBlock), scales(kRows * kBlocks), want(kRows);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = i % kBlock == 3 ? 127 : static_cast<double>(i * 29 % 255) - 127;
      for (size_t i = 0; i < scales.size(); ++i)
        scales[i] = 0.125 * static_cast<double>(1 + i % 5);
      for (int64_t n = 0; n < kRows; ++n) {
        for (int64_t k = 0; k < kBlocks * kBlock; ++k) {
          const int64_t block = k / kBlock;
          const int zero = has_zeros ? CodeOf(zeros, zero_bytes, n, block, bits)
                                     : 1 << (bits - 1);
          want[static_cast<size_t>(n)] +=
              x[static_cast<size_t>(k)] *
              (CodeOf(weights, row_bytes, n, k, bits) - zero) *
              scales[static_cast<size_t>(n * kBlocks + block)];
        }
      }
      OneNode node = Contrib("MatMulNBits");
      node.Input(F32({1, kBlocks * kBlock}, x));
      node.Constant(U8({kRows, kBlocks, row_bytes / kBlocks}, weights));
      node.Constant(F32({kRows, kBlocks}, scales));
      if (has_zeros) node.Constant(U8({kRows * zero_bytes}, zeros));
      node.Attribute({"K", kBlocks * kBlock}).Attribute({"N", kRows});
      node.Attribute({"bits", bits}).Attribute({"block_size", kBlock});
      node.Attribute({"accuracy_level", 4});
      Expect(node.Run(), {1, kRows}, want);
    }
  }
}

TEST(QuantizedWeights, MatMulBnb4TakesTheHighHalfFirst) {
  OneNode node = Contrib("MatMulBnb4");
  Bytes codes(8, 0x77);  // In the type NF4, code 7 represents 0.
  // In the type NF4, code 15 represents 1 and code 0 represents -1. The first
  // code is in the upper half.
  codes[0] = 0xf0;
  Floats x(16, 1);
  x[0] = 5;
  node.Input(F32({1, 16}, x)).Constant(U8({8}, codes));
  node.Constant(F32({1}, {2})).Attribute({"K", 16}).Attribute({"N", 1});
  node.Attribute({"block_size", 16}).Attribute({"quant_type", 1});
  Expect(node.Run(), {1, 1}, {8});
}

TEST(QuantizedWeights, GatheredRowsAreDequantizedByBlock) {
  OneNode node = Contrib("GatherBlockQuantized");
  // Two rows of 32 weights of 4 bits. They are 8, which represents 8 - 8 = 0,
  // except for two in row 1.
  Bytes rows(32, 0x88);
  rows[16] = 0x98;  // row 1, column 1: 9 - 8 = 1
  rows[31] = 0x68;  // row 1, column 31: 6 - 8 = -2
  node.Constant(U8({2, 16}, rows)).Input(I64({1}, {-1}));
  node.Constant(F32({2, 2}, {1, 1, 10, 100}));
  node.Attribute({"block_size", 16}).Attribute({"bits", 4});
  Floats want(32, 0);
  want[1] = 10;
  want[31] = -200;
  Expect(node.Run(), {1, 32}, want);
}

TEST(QuantizedWeights, ScalesAreRefusedWithoutADimPerDimOfTheRows) {
  OneNode node = Contrib("GatherBlockQuantized");
  node.Constant(U8({2, 16}, Bytes(32, 0x88))).Input(I64({1}, {0}));
  node.Constant(F32({2}, {1, 1}));
  node.Attribute({"block_size", 16}).Attribute({"bits", 4});
  EXPECT_THAT(node.Run().status().ToString(), HasSubstr("input 2"));
}

TEST(ContribQuantization, AddAndMultiply) {
  // The first operand represents 0.5 * (12 - 10) = 1, the second one 2 * 3 = 6.
  const std::vector<std::pair<std::string, double>> cases = {
      {"QLinearAdd", 7 * 4 + 1}, {"QLinearMul", 6 * 4 + 1}};
  for (const auto& [name, want] : cases) {
    OneNode node = Contrib(name);
    node.Input(U8({1}, {12})).Constant(F32({}, {0.5}));
    node.Constant(U8({}, {10})).Input(U8({1}, {3}));
    node.Constant(F32({1}, {2})).Absent().Constant(F32({}, {0.25}));
    node.Constant(U8({}, {1}));
    ExpectExact(DType::kU8, node.Run(), {1}, {want});
  }
}

TEST(ContribQuantization, PoolsWithTheChannelsLast) {
  OneNode node = Contrib("QLinearGlobalAveragePool");
  node.Input(U8({1, 1, 2, 2}, {1, 10, 3, 20})).Constant(F32({}, {1}));
  node.Constant(U8({}, {0})).Constant(F32({}, {0.5}));
  node.Constant(U8({}, {0})).Attribute({"channels_last", 1});
  ExpectExact(DType::kU8, node.Run(), {1, 1, 1, 2}, {4, 30});
}

TEST(ContribQuantization, GemmGivesFloatsWithoutAScaleOfTheResult) {
  for (const bool quantized : {false, true}) {
    OneNode node = Contrib("QGemm");
    node.Input(U8({1, 2}, {12, 9})).Constant(F32({}, {0.5}));
    node.Constant(U8({}, {10})).Constant(I8({2, 1}, {3, -4}));
    node.Constant(F32({1}, {2})).Constant(I8({1}, {1}));
    node.Constant(I32({1}, {1}));
    // The sum of products is 2 * 2 + 1 * 5 + 1 = 10. It is a number of units of
    // 0.5 * 2, the product of the scales.
    if (quantized) {
      node.Constant(F32({}, {4})).Constant(I8({}, {-5}));
      // The result is quantized with the scale 4: 10 / 4 = 2.5 rounds to 2, the
      // even neighbour, and -5 is added.
      ExpectExact(DType::kI8, node.Run(), {1, 1}, {-3});
    } else {
      Expect(node.Run(), {1, 1}, {10});
    }
  }
}

TEST(ContribQuantization, DynamicMatMulRoundsItsOperand) {
  // The operator quantizes its operand itself, from the smallest to the largest
  // element: 0 to 255 here, so the scale is 1 and 1.4 becomes 1.
  OneNode node = Contrib("DynamicQuantizeMatMul");
  node.Input(F32({1, 2}, {255, 1.4})).Constant(I8({2, 1}, {1, 3}));
  node.Constant(F32({1}, {0.5})).Absent().Constant(F32({1}, {10}));
  Expect(node.Run(), {1, 1}, {(255 + 3) * 0.5 + 10});
}

TEST(ContribMovement, UnfoldAndDistances) {
  OneNode unfold = Contrib("UnfoldTensor");
  unfold.Input(F32({2, 5}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  unfold.Attribute({"dim", 1}).Attribute({"size", 3}).Attribute({"step", 2});
  Expect(unfold.Run(), {2, 2, 3}, {0, 1, 2, 2, 3, 4, 5, 6, 7, 7, 8, 9});
  OneNode distance = Contrib("CDist");
  distance.Input(F32({1, 2}, {0, 0})).Input(F32({2, 2}, {3, 4, 0, 1}));
  distance.Attribute({"metric", "euclidean"});
  Expect(distance.Run(), {1, 2}, {5, 1});
}

TEST(ContribMovement, RelativePositionsInBuckets) {
  // The bias is for one direction and four buckets. The first two buckets are
  // for one distance each; the others cover distances up to 8. The distances 2
  // and 3 are in bucket 2, which ends at the distance 4.
  OneNode node = Contrib("RelativePositionBias");
  node.Constant(F32({4, 1}, {10, 11, 12, 13}));
  node.Constant(I64({1}, {1})).Constant(I64({1}, {6}));
  node.Attribute({"max_distance", 8});
  Expect(node.Run(), {1, 1, 1, 6}, {13, 13, 12, 12, 11, 10});
}

TEST(ContribMovement, HashesOfKnownVectors) {
  // The expected numbers are published MurmurHash3 hashes of four zero bytes
  // and of "abcd".
  OneNode zero = Contrib("MurmurHash3");
  zero.Input(I32({1}, {0}));
  ExpectExact(DType::kU32, zero.Run(), {1}, {593689054});
  OneNode bytes = Contrib("MurmurHash3");
  bytes.Input(I32({1}, {0x64636261}));
  ExpectExact(DType::kU32, bytes.Run(), {1}, {1139631978});
}

TEST(ContribMovement, GatesScaleTheBias) {
  // Both gates are sigmoid(0) = 0.5, so the factor of the bias is 0.5 (0.5 * 4
  // - 1) + 2.
  OneNode node = Contrib("GatedRelativePositionBias");
  node.Input(F32({1, 1, 2}, {1, 2})).Input(F32({2}, {-1, -2}));
  node.Input(F32({1, 1, 1, 1}, {10})).Input(F32({2, 4}, Floats(8, 3)));
  node.Input(F32({4}, {1, -1, 2, -2})).Input(F32({1, 1, 1, 1}, {4}));
  node.Attribute({"num_heads", 1});
  Expect(node.Run(), {1, 1, 1, 1}, {25});
}

TEST(ContribMovement, RealTransformsAndBack) {
  OneNode forward = Contrib("Rfft");
  forward.Input(F32({4}, {1, 2, 3, 4})).Attribute({"signal_ndim", 1});
  Expect(forward.Run(), {3, 2}, {10, 0, -2, 2, -2, 0});
  OneNode back = Contrib("Irfft");
  back.Input(F32({3, 2}, {10, 0, -2, 2, -2, 0}));
  back.Attribute({"signal_ndim", 1});
  Expect(back.Run(), {4}, {1, 2, 3, 4});
}

TEST(ContribNormalization, QuantizedEmbeddings) {
  OneNode node = Contrib("QEmbedLayerNormalization");
  node.Input(I32({1, 1}, {1})).Absent();
  node.Constant(U8({2, 2}, {0, 0, 11, 15})).Constant(U8({1, 2}, {8, 8}));
  node.Absent().Constant(U8({2}, {6, 6})).Constant(U8({2}, {4, 5})).Absent();
  node.Constant(F32({}, {0.5})).Constant(F32({}, {1})).Absent();
  node.Constant(F32({}, {1})).Constant(F32({}, {2}));
  node.Constant(U8({}, {9})).Constant(U8({}, {8})).Absent();
  node.Constant(U8({}, {4})).Constant(U8({}, {4}));
  // The sum of the operands is the row (1, 3), which is normalized to (-1, 1).
  // Then it is multiplied by 2, and (0, 2) is added.
  Expect(node.Run(), {1, 1, 2}, {-2, 4});
}

TEST(ContribMovement, AliasesOfTheDefaultDomain) {
  OneNode pad = Contrib("Pad");
  pad.Input(F32({1}, {5})).Constant(I64({1, 2}, {1, 2}));
  pad.Constant(F32({}, {7}));
  Expect(pad.Run(), {4}, {7, 5, 7, 7});
  OneNode range = Contrib("Range");
  range.Constant(I64({}, {2})).Constant(I64({}, {5}));
  ExpectExact(DType::kI64, range.Run(), {3}, {2, 3, 4});
}

TEST(Cast, FloatsThatDoNotFit) {
  OneNode node("Cast", 21);
  node.Input(F32({3}, {-1, 300, 7.9})).Attribute({"to", 2});
  ExpectExact(DType::kU8, node.Run(), {3}, {255, 255, 7});
}

}  // namespace
}  // namespace ember::tests
