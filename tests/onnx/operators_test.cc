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

// Runs a model on inputs x0, x1 … of type f32. The test adds the nodes, which
// must define y.
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

// All positions of the second dim are at the edge of its single element. Linear
// interpolation must give that element exactly, not a rounded sum of two
// weighted parts of it.
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

// ONNX stores the default alpha 0.01 as a float, 0.00999999978. With f64
// operands the difference shows.
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
  // The last element, 17, is halfway between the E4M3 numbers 16 and 18 and
  // must round to the even one, 16.
  Expect(o.Run(), {5}, {0.46875, 448, -448, 0.0078125, 16});
}

// Tests casts to 8-bit floats: types for which Ember has a DType, and one that
// is carried as bytes.
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

TEST(CarriedTypes, FourBitIntegersWrap) {
  OneOperator o(21);
  o.Input({{4}, {7, 8, -9, 17}});
  o.model().Node("Cast", {"x0"}, {"narrow"}, {{"to", onnx::TensorProto::INT4}});
  o.model().Node("Cast", {"narrow"}, {"y"}, {{"to", onnx::TensorProto::FLOAT}});
  Expect(o.Run(), {4}, {7, -8, 7, 1});
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

// One compiled module must work for several extents, because dims stay symbolic
// through pooling and reshapes.
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

// A chain of 20000 nodes overflows the stack if any function of the compiler
// calls itself once for each node.
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
