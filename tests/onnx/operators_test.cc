// Tests the meaning of ONNX operators end to end: a model of one node is
// imported, compiled and run. Expected values are worked out by hand or by
// numpy, not by this repository. The conformance suite (conformance.cc) covers
// far more; these are cases that are easy to get wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "frontends/onnx/testing/model_builder.h"
#include "tests/onnx/one_node.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

using onnx::ModelBuilder;
using ::testing::ElementsAre;

struct Floats {
  std::vector<int64_t> dims;
  std::vector<float> values;
};

// Runs a model that defines y on inputs x0, x1 … of type f32.
class OneOperator {
 public:
  explicit OneOperator(int opset = 17) : model_(opset) {}

  OneOperator& Input(Floats input) {
    const std::string name = "x" + std::to_string(inputs_.size());
    model_.Input(
        name, std::vector<onnx::TestDim>(input.dims.begin(), input.dims.end()));
    inputs_.push_back(std::move(input));
    return *this;
  }
  ModelBuilder& model() { return model_; }

  StatusOr<Floats> Run() {
    model_.Output("y");
    std::vector<vm::Tensor> tensors;
    for (const Floats& input : inputs_) {
      tensors.push_back(
          vm::Tensor::Borrow(DType::kF32, input.dims, input.values.data()));
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> results,
                           RunGraph(model_.Import(), tensors));
    const vm::Tensor& y = results.front();
    if (y.type != DType::kF32)
      return InternalError("result is " + y.TypeText());
    const auto values = y.elements<float>();
    return Floats{y.dims, {values.begin(), values.end()}};
  }

 private:
  ModelBuilder model_;
  std::vector<Floats> inputs_;
};

void Expect(StatusOr<Floats> result, const std::vector<int64_t>& dims,
            const std::vector<float>& values) {
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->dims, dims);
  ASSERT_EQ(result->values.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(result->values[i], values[i],
                1e-5 * std::max(1.0f, std::abs(values[i])))
        << i;
  }
}

TEST(Elementwise, AxisBroadcastOfOldOpsets) {
  OneOperator o(6);
  o.Input({{2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, 0}}).Input({{2}, {1, 2}});
  o.model().Node("Add", {"x0", "x1"}, {"y"}, {{"broadcast", 1}, {"axis", 1}});
  Expect(o.Run(), {2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2});
}

TEST(Elementwise, ClipWithoutMinimum) {
  OneOperator o;
  o.Input({{3}, {-5, 1, 9}});
  o.model().Floats("high", {}, {2});
  o.model().Node("Clip", {"x0", "", "high"}, {"y"});
  Expect(o.Run(), {3}, {-5, 1, 2});
}

TEST(Elementwise, RoundGoesToEven) {
  OneOperator o;
  o.Input({{4}, {0.5, 1.5, -0.5, 2.5}});
  o.model().Node("Round", {"x0"}, {"y"});
  Expect(o.Run(), {4}, {0, 2, 0, 2});
}

TEST(Activation, SoftmaxBeforeOpset13FlattensFromTheAxis) {
  OneOperator o(11);
  o.Input({{1, 2, 2}, {0, 0, 0, 0}});
  o.model().Node("Softmax", {"x0"}, {"y"}, {{"axis", 1}});
  Expect(o.Run(), {1, 2, 2}, {0.25, 0.25, 0.25, 0.25});
}

TEST(Activation, SoftplusDoesNotOverflow) {
  OneOperator o;
  o.Input({{3}, {-200, 0, 200}});
  o.model().Node("Softplus", {"x0"}, {"y"});
  Expect(o.Run(), {3}, {0, 0.6931472f, 200});
}

TEST(Convolution, GroupsStridesAndAsymmetricPads) {
  OneOperator o;
  o.Input({{1, 2, 1, 4}, {1, 2, 3, 4, 10, 20, 30, 40}});
  o.model().Floats("w", {2, 1, 1, 2}, {1, 1, 1, -1});
  o.model().Floats("b", {2}, {0, 100});
  o.model().Node("Conv", {"x0", "w", "b"}, {"y"},
                 {{"group", 2},
                  {"strides", std::vector<int64_t>{1, 2}},
                  {"pads", std::vector<int64_t>{0, 1, 0, 0}}});
  // In each channel the pooling windows cover the elements (0, 1) and (2, 3).
  Expect(o.Run(), {1, 2, 1, 2}, {1, 5, 90, 90});
}

TEST(Convolution, SameLowerPutsTheOddPadFirst) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER"}) {
    OneOperator o;
    o.Input({{1, 1, 3}, {1, 2, 3}});
    o.model().Floats("w", {1, 1, 2}, {1, 10});
    o.model().Node("Conv", {"x0", "w"}, {"y"}, {{"auto_pad", mode}});
    if (std::string(mode) == "SAME_UPPER") {
      Expect(o.Run(), {1, 1, 3}, {21, 32, 3});
    } else {
      Expect(o.Run(), {1, 1, 3}, {10, 21, 32});
    }
  }
}

TEST(Convolution, TransposeWithOutputPadding) {
  OneOperator o;
  o.Input({{1, 1, 2}, {1, 2}});
  o.model().Floats("w", {1, 1, 2}, {1, 10});
  o.model().Node("ConvTranspose", {"x0", "w"}, {"y"},
                 {{"strides", std::vector<int64_t>{3}},
                  {"output_padding", std::vector<int64_t>{1}}});
  Expect(o.Run(), {1, 1, 6}, {1, 10, 0, 2, 20, 0});
}

TEST(Pooling, CeilModeDropsAWindowThatStartsInThePadding) {
  OneOperator o;
  o.Input({{1, 1, 2}, {1, 2}});
  o.model().Node("MaxPool", {"x0"}, {"y"},
                 {{"kernel_shape", std::vector<int64_t>{1}},
                  {"strides", std::vector<int64_t>{2}},
                  {"pads", std::vector<int64_t>{0, 1}},
                  {"ceil_mode", 1}});
  Expect(o.Run(), {1, 1, 1}, {1});
}

TEST(Pooling, AverageCountsPaddingOnlyWhenAsked) {
  for (int include : {0, 1}) {
    OneOperator o;
    o.Input({{1, 1, 3}, {3, 6, 9}});
    o.model().Node("AveragePool", {"x0"}, {"y"},
                   {{"kernel_shape", std::vector<int64_t>{2}},
                    {"pads", std::vector<int64_t>{1, 0}},
                    {"count_include_pad", include}});
    Expect(o.Run(), {1, 1, 3}, {include ? 1.5f : 3.0f, 4.5, 7.5});
  }
}

// Elements that ceil_mode adds beyond the padding are never counted.
TEST(Pooling, AverageWithCeilModeAndIncludedPadding) {
  OneOperator o(19);
  o.Input({{1, 1, 4}, {2, 4, 6, 8}});
  o.model().Node("AveragePool", {"x0"}, {"y"},
                 {{"kernel_shape", std::vector<int64_t>{3}},
                  {"strides", std::vector<int64_t>{2}},
                  {"ceil_mode", 1},
                  {"count_include_pad", 1}});
  Expect(o.Run(), {1, 1, 2}, {4, 7});
}

// For a window with NaNs, the maximum is NaN, and its index is that of the
// first NaN.
TEST(Pooling, IndicesOfNan) {
  OneOperator o;
  o.Input({{1, 1, 6}, {1, NAN, NAN, 3, 5, 2}});
  o.model().Node("MaxPool", {"x0"}, {"most", "where"},
                 {{"kernel_shape", std::vector<int64_t>{3}},
                  {"strides", std::vector<int64_t>{1}}});
  o.model().Node("Cast", {"where"}, {"y"}, {{"to", onnx::TensorProto::FLOAT}});
  Expect(o.Run(), {1, 1, 4}, {1, 1, 2, 4});
}

TEST(Normalization, BatchNormalization) {
  OneOperator o;
  o.Input({{1, 2, 1, 2}, {1, 2, 3, 4}});
  o.model().Floats("scale", {2}, {2, 1});
  o.model().Floats("bias", {2}, {0, 1});
  o.model().Floats("mean", {2}, {1, 3});
  o.model().Floats("variance", {2}, {4, 1});
  o.model().Node("BatchNormalization",
                 {"x0", "scale", "bias", "mean", "variance"}, {"y"},
                 {{"epsilon", 0.0}});
  Expect(o.Run(), {1, 2, 1, 2}, {0, 1, 1, 2});
}

TEST(Normalization, LayerNormalizationOverTwoAxes) {
  OneOperator o;
  o.Input({{1, 2, 2}, {-3, -1, 1, 3}});
  o.model().Floats("scale", {2, 2}, {1, 1, 1, 2});
  o.model().Node("LayerNormalization", {"x0", "scale"}, {"y"},
                 {{"axis", 1}, {"epsilon", 0.0}});
  Expect(o.Run(), {1, 2, 2},
         {-1.3416408f, -0.4472136f, 0.4472136f, 2.6832816f});
}

TEST(Reduction, LogSumExpOfLargeValues) {
  OneOperator o;
  o.Input({{1, 2}, {1000, 1000}});
  o.model().Node("ReduceLogSumExp", {"x0"}, {"y"},
                 {{"axes", std::vector<int64_t>{1}}, {"keepdims", 0}});
  Expect(o.Run(), {1}, {1000.6931f});
}

TEST(Movement, SliceBackwardsWithNegativeBounds) {
  OneOperator o;
  o.Input({{5}, {0, 1, 2, 3, 4}});
  o.model().Integers("starts", {-1});
  o.model().Integers("ends", {-2147483648});
  o.model().Integers("axes", {0});
  o.model().Integers("steps", {-2});
  o.model().Node("Slice", {"x0", "starts", "ends", "axes", "steps"}, {"y"});
  Expect(o.Run(), {3}, {4, 2, 0});
}

TEST(Movement, PadReflectsAndCrops) {
  OneOperator o;
  o.Input({{1, 3}, {1, 2, 3}});
  o.model().Integers("pads", {0, 2, 0, 0});
  o.model().Node("Pad", {"x0", "pads"}, {"y"}, {{"mode", "reflect"}});
  Expect(o.Run(), {1, 5}, {3, 2, 1, 2, 3});
  OneOperator crop;
  crop.Input({{1, 3}, {1, 2, 3}});
  crop.model().Integers("pads", {0, -1, 0, 1});
  crop.model().Node("Pad", {"x0", "pads"}, {"y"});
  Expect(crop.Run(), {1, 3}, {2, 3, 0});
}

TEST(Movement, ReshapeCopiesAndInfers) {
  OneOperator o;
  o.Input({{2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}});
  o.model().Integers("shape", {0, -1});
  o.model().Node("Reshape", {"x0", "shape"}, {"y"});
  Expect(o.Run(), {2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST(Indexing, GatherWithNegativeIndices) {
  OneOperator o;
  o.Input({{3, 2}, {0, 1, 2, 3, 4, 5}});
  o.model().Integers("indices", {-1, 0});
  o.model().Node("Gather", {"x0", "indices"}, {"y"});
  Expect(o.Run(), {2, 2}, {4, 5, 0, 1});
}

TEST(Indexing, CumulativeSumBackwardsWithoutItself) {
  OneOperator o;
  o.Input({{5}, {1, 2, 3, 4, 5}});
  o.model().Integers("axis", {0});
  o.model().Node("CumSum", {"x0", "axis"}, {"y"},
                 {{"reverse", 1}, {"exclusive", 1}});
  Expect(o.Run(), {5}, {14, 12, 9, 5, 0});
}

TEST(Resize, NearestModesRoundHalvesAsNamed) {
  for (const char* mode : {"round_prefer_floor", "round_prefer_ceil"}) {
    OneOperator o;
    o.Input({{3}, {0, 1, 2}});
    o.model().Floats("roi", {0}, {});
    o.model().Floats("scales", {1}, {2});
    // The results are read at the positions 0, .5, 1, 1.5, 2 and 2.5 of the
    // input.
    o.model().Node("Resize", {"x0", "roi", "scales"}, {"y"},
                   {{"coordinate_transformation_mode", "asymmetric"},
                    {"nearest_mode", mode}});
    if (std::string(mode) == "round_prefer_floor") {
      Expect(o.Run(), {6}, {0, 0, 1, 1, 2, 2});
    } else {
      Expect(o.Run(), {6}, {0, 1, 1, 2, 2, 2});
    }
  }
}

TEST(Resize, LinearRepeatsTheEdge) {
  OneOperator o;
  o.Input({{1, 1, 1, 2}, {0, 4}});
  o.model().Floats("roi", {0}, {});
  o.model().Floats("scales", {4}, {1, 1, 1, 2});
  o.model().Node("Resize", {"x0", "roi", "scales"}, {"y"},
                 {{"mode", "linear"}});
  Expect(o.Run(), {1, 1, 1, 4}, {0, 1, 3, 4});
}

// At the edge, linear interpolation must give the element exactly, not a sum of
// two weighted parts of it, which would round.
TEST(Resize, LinearAtTheEdgeIsTheElement) {
  std::vector<float> x, y;
  for (int i = 0; i < 50; ++i) x.push_back(1 + 0.013F * static_cast<float>(i));
  for (const float element : x) y.insert(y.end(), 9, element);
  OneOperator o;
  o.Input({{50, 1}, x});
  o.model().Floats("roi", {0}, {});
  o.model().Floats("scales", {2}, {1, 9});
  o.model().Node("Resize", {"x0", "roi", "scales"}, {"y"},
                 {{"mode", "linear"}});
  const StatusOr<Floats> resized = o.Run();
  ASSERT_TRUE(resized.ok()) << resized.status().ToString();
  EXPECT_EQ(resized->values, y);
}

// The default 0.01 is a float in ONNX: 0.00999999978.
TEST(Attributes, DefaultsAreFloats) {
  ModelBuilder m;
  m.Input("x", {1}, onnx::TensorProto::DOUBLE);
  m.Node("LeakyRelu", {"x"}, {"y"});
  m.Output("y");
  const std::vector<double> x{-1};
  const auto results =
      RunGraph(m.Import(), {vm::Tensor::Borrow(DType::kF64, {1}, x.data())});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->front().elements<double>()[0], -double{0.01F});
}

TEST(Contraction, GemmTransposesScalesAndAdds) {
  OneOperator o;
  o.Input({{2, 1}, {1, 2}})
      .Input({{2, 2}, {1, 2, 3, 4}})
      .Input({{2}, {10, 20}});
  o.model().Node("Gemm", {"x0", "x1", "x2"}, {"y"},
                 {{"transA", 1}, {"transB", 1}, {"alpha", 2.0}, {"beta", 0.5}});
  // The product of the transposed operands is [1 2] · [[1 3] [2 4]] = [5 11].
  Expect(o.Run(), {1, 2}, {15, 32});
}

TEST(Contraction, EinsumDiagonalAndThreeOperands) {
  OneOperator diagonal;
  diagonal.Input({{2, 2}, {1, 2, 3, 4}});
  diagonal.model().Node("Einsum", {"x0"}, {"y"}, {{"equation", "ii->i"}});
  Expect(diagonal.Run(), {2}, {1, 4});
  OneOperator chain;
  chain.Input({{1, 2}, {1, 2}})
      .Input({{2, 2}, {1, 0, 0, 2}})
      .Input({{2}, {3, 5}});
  chain.model().Node("Einsum", {"x0", "x1", "x2"}, {"y"},
                     {{"equation", "ij, jk, k"}});
  Expect(chain.Run(), {1}, {23});
}

TEST(Quantization, RoundTripSaturates) {
  OneOperator o;
  o.Input({{4}, {-1000, -1, 0.74, 1000}});
  o.model().Floats("scale", {}, {0.5});
  o.model().Node("QuantizeLinear", {"x0", "scale"}, {"q"});
  o.model().Node("DequantizeLinear", {"q", "scale"}, {"y"});
  Expect(o.Run(), {4}, {0, 0, 0.5, 127.5});
}

TEST(CarriedTypes, Fp8RoundsAndSaturates) {
  OneOperator o(19);
  o.Input({{5}, {0.4789f, 1e6, -1e6, 0.0078125f, 17}});
  o.model().Node("Cast", {"x0"}, {"codes"},
                 {{"to", onnx::TensorProto::FLOAT8E4M3FN}});
  o.model().Node("Cast", {"codes"}, {"y"}, {{"to", onnx::TensorProto::FLOAT}});
  // 17 is halfway between 16 and 18; ties round to even.
  Expect(o.Run(), {5}, {0.46875, 448, -448, 0.0078125, 16});
}

// The types are 8-bit floats that have a DType, and one that is carried as
// bytes.
TEST(Float8, RoundsAndSaturatesOrNot) {
  const float infinity = INFINITY;
  struct Case {
    int type;
    int saturate;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {onnx::TensorProto::FLOAT8E4M3FN, 1, {448, -448, 448, 448, 448}},
      {onnx::TensorProto::FLOAT8E4M3FN, 0, {NAN, NAN, NAN, NAN, 448}},
      {onnx::TensorProto::FLOAT8E5M2, 1, {57344, -57344, 57344, 512, 448}},
      {onnx::TensorProto::FLOAT8E5M2,
       0,
       {infinity, -infinity, infinity, 512, 448}},
      {onnx::TensorProto::FLOAT8E4M3FNUZ, 1, {240, -240, 240, 240, 240}},
  };
  for (const Case& each : cases) {
    OneOperator o(19);
    o.Input({{5}, {infinity, -infinity, 1e6, 481, 464}});
    o.model().Node("Cast", {"x0"}, {"narrow"},
                   {{"to", each.type}, {"saturate", each.saturate}});
    o.model().Node("Cast", {"narrow"}, {"y"},
                   {{"to", onnx::TensorProto::FLOAT}});
    SCOPED_TRACE(each.type);
    const StatusOr<Floats> result = o.Run();
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    EXPECT_THAT(
        result->values,
        ::testing::Pointwise(::testing::NanSensitiveFloatEq(), each.expected));
  }
}

// Casts to integers of all widths saturate, and NaN gives 0. A negative number
// as an unsigned integer keeps its lower bits.
TEST(Elementwise, CastsToIntegersSaturate) {
  struct Case {
    int type;
    std::vector<float> expected;
  };
  const Case cases[] = {
      {onnx::TensorProto::INT8, {127, -128, 0, 127, -1, 127}},
      {onnx::TensorProto::UINT8, {255, 0, 0, 255, 255, 200}},
      {onnx::TensorProto::INT16, {32767, -32768, 0, 32767, -1, 200}},
      {onnx::TensorProto::UINT16, {65535, 0, 0, 65535, 65535, 200}},
      {onnx::TensorProto::INT32,
       {2147483648.0f, -2147483648.0f, 0, 1e9, -1, 200}},
      {onnx::TensorProto::UINT32,
       {4294967296.0f, 0, 0, 1e9, 4294967296.0f, 200}},
      {onnx::TensorProto::INT64,
       {9223372036854775808.0f, -9223372036854775808.0f, 0, 1e9, -1, 200}},
      {onnx::TensorProto::UINT64,
       {18446744073709551616.0f, 0, 0, 1e9, 18446744073709551616.0f, 200}},
  };
  for (const Case& each : cases) {
    OneOperator o(19);
    o.Input({{6}, {INFINITY, -INFINITY, NAN, 1e9, -1.75, 200.5}});
    o.model().Node("Cast", {"x0"}, {"whole"}, {{"to", each.type}});
    o.model().Node("Cast", {"whole"}, {"y"},
                   {{"to", onnx::TensorProto::FLOAT}});
    SCOPED_TRACE(each.type);
    Expect(o.Run(), {6}, each.expected);
  }
}

TEST(CarriedTypes, FourBitIntegersWrap) {
  OneOperator o(21);
  o.Input({{4}, {7, 8, -9, 17}});
  o.model().Node("Cast", {"x0"}, {"narrow"}, {{"to", onnx::TensorProto::INT4}});
  o.model().Node("Cast", {"narrow"}, {"y"}, {{"to", onnx::TensorProto::FLOAT}});
  Expect(o.Run(), {4}, {7, -8, 7, 1});
}

TEST(Signal, DftOfAShiftedImpulse) {
  OneOperator o(20);
  o.Input({{1, 4, 1}, {0, 1, 0, 0}});
  o.model().Node("DFT", {"x0"}, {"y"});
  Expect(o.Run(), {1, 4, 2}, {1, 0, 0, -1, -1, 0, 0, 1});
}

TEST(Sampling, GridSampleBetweenElementsAndOutside) {
  OneOperator o(20);
  o.Input({{1, 1, 2, 2}, {0, 1, 2, 3}})
      .Input({{1, 1, 3, 2}, {0, 0, -1, -1, 3, 0}});
  o.model().Node("GridSample", {"x0", "x1"}, {"y"}, {{"align_corners", 1}});
  Expect(o.Run(), {1, 1, 1, 3}, {1.5, 0, 0});
}

TEST(Sampling, CubicGridSampleSeesInsideFromBeyondTheBorder) {
  OneOperator o(20);
  // The sampled position is 3.5, while the elements are at 0 to 3. In cubic
  // interpolation the third element then has the weight -0.09375.
  o.Input({{1, 1, 1, 4}, {0, 0, 0, 1}}).Input({{1, 1, 1, 2}, {4.0F / 3, 0}});
  o.model().Node(
      "GridSample", {"x0", "x1"}, {"y"},
      {{"align_corners", 1}, {"mode", "cubic"}, {"padding_mode", "border"}});
  Expect(o.Run(), {1, 1, 1, 1}, {1.09375});
}

TEST(Sampling, Col2ImAddsOverlaps) {
  OneOperator o(18);
  o.Input({{1, 2, 2}, {1, 2, 10, 20}});
  o.model().Integers("image", {3});
  o.model().Integers("block", {2});
  o.model().Node("Col2Im", {"x0", "image", "block"}, {"y"});
  // Block (1, 10) is added at position 0, and block (2, 20) at position 1.
  Expect(o.Run(), {1, 1, 3}, {1, 12, 20});
}

TEST(Attention, CausalRowsSeeThePast) {
  OneOperator o(23);
  const Floats same{{1, 1, 2, 1}, {0, 0}};
  o.Input(same).Input(same).Input({{1, 1, 2, 1}, {4, 8}});
  o.model().Node("Attention", {"x0", "x1", "x2"}, {"y"}, {{"is_causal", 1}});
  Expect(o.Run(), {1, 1, 2, 1}, {4, 6});
}

TEST(Loss, IgnoredTargetsDoNotCount) {
  OneOperator o;
  o.Input({{3, 2}, {-1, -2, -3, -4, -5, -6}});
  o.model().Integers("target", {1, 7, 0});
  o.model().Node("NegativeLogLikelihoodLoss", {"x0", "target"}, {"y"},
                 {{"ignore_index", 7}});
  Expect(o.Run(), {}, {3.5});
}

// ONNX leaves the mean of an empty batch undefined ("yields undefined",
// ReduceMean). Its reference implementation divides 0 by 0, as here. ONNX
// Runtime returns 0 without class weights, and NaN with them.
TEST(Loss, MeanOfAnEmptyBatchIsNoNumber) {
  for (const bool is_weighted : {false, true}) {
    OneOperator o;
    o.Input({{0, 3}, {}});
    o.model().Integers("target", {});
    std::vector<std::string> inputs = {"x0", "target"};
    if (is_weighted) {
      o.Input({{3}, {1, 1, 1}});
      inputs.emplace_back("x1");
    }
    o.model().Node("NegativeLogLikelihoodLoss", inputs, {"y"});
    const StatusOr<Floats> loss = o.Run();
    ASSERT_TRUE(loss.ok()) << loss.status().ToString();
    EXPECT_TRUE(std::isnan(loss->values[0]));
  }
}

// Dims stay symbolic through reshapes and pooling, so that one compiled module
// works for every extent.
TEST(Dynamic, OneModuleForSeveralExtents) {
  ModelBuilder m;
  m.Input("x", {"N", 1, "W"});
  m.Node("AveragePool", {"x"}, {"pooled"},
         {{"kernel_shape", std::vector<int64_t>{2}},
          {"auto_pad", "SAME_UPPER"},
          {"strides", std::vector<int64_t>{2}}});
  m.Node("Flatten", {"pooled"}, {"y"});
  m.Output("y");
  for (const int64_t width : {3, 4}) {
    const std::vector<float> x{2, 4, 6, 8};
    auto results = RunGraph(
        m.Import(), {vm::Tensor::Borrow(DType::kF32, {1, 1, width}, x.data())});
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    EXPECT_THAT(results->front().dims, ElementsAre(1, 2));
    EXPECT_EQ(results->front().elements<float>()[0], 3);
    EXPECT_EQ(results->front().elements<float>()[1], width == 3 ? 6 : 7);
  }
}

// Chains of many nodes compile only if no function of the compiler recurses
// once per node.
TEST(Compile, LongChains) {
  ModelBuilder m;
  m.Input("x", {2});
  std::string last = "x";
  for (int i = 0; i < 20000; ++i) {
    const std::string next = "v" + std::to_string(i);
    m.Node(i % 2 == 0 ? "Neg" : "Abs", {last}, {next});
    last = next;
  }
  m.Output(last);
  const float x[] = {-1, 3};
  auto results =
      RunGraph(m.Import(), {vm::Tensor::Borrow(DType::kF32, {2}, x)});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->front().elements<float>()[0], 1);
}

// Each node uses the previous node's result twice, so 2^100 paths lead from the
// last node to the first.
TEST(Compile, TimeGrowsWithOperationsNotWithPaths) {
  ModelBuilder m;
  m.Input("x", {2});
  m.Node("Exp", {"x"}, {"y"});
  m.Integers("zero", {0});
  m.Integers("one", {1});
  m.Node("Slice", {"y", "zero", "one"}, {"r0"});
  std::string rung = "r0";
  for (int i = 1; i <= 100; ++i) {
    const std::string number = std::to_string(i);
    m.Node("Neg", {rung}, {"n" + number});
    m.Node("Relu", {rung}, {"p" + number});
    m.Node("Max", {"n" + number, "p" + number}, {"r" + number});
    rung = "r" + number;
  }
  m.Output(rung);
  const float x[] = {0, 3};
  auto results =
      RunGraph(m.Import(), {vm::Tensor::Borrow(DType::kF32, {2}, x)});
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(results->front().elements<float>()[0], 1);
}

}  // namespace
}  // namespace ember::tests
