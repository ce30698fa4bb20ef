// Tests single operators against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/caffe2/one_operator.h"

namespace ember::tests {
namespace {

using Op = OneCaffe2Operator;

Numbers Bools(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kBool, std::move(dims), std::move(values)};
}

TEST(Caffe2Operators, OfOneOperand) {
  struct Case {
    std::string type, arguments;
    std::function<double(double)> function;
  };
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const std::vector<Case> cases = {
      {"Abs", "", [](double x) { return std::abs(x); }},
      {"Negative", "", [](double x) { return -x; }},
      {"Sign", "", [](double x) { return x < 0 ? -1.0 : x > 0; }},
      {"Floor", "", [](double x) { return std::floor(x); }},
      {"Ceil", "", [](double x) { return std::ceil(x); }},
      {"Sqr", "", [](double x) { return x * x; }},
      {"Cube", "", [](double x) { return x * x * x; }},
      {"Reciprocal", "", [](double x) { return 1 / x; }},
      {"Exp", "", [](double x) { return std::exp(x); }},
      {"Sin", "", [](double x) { return std::sin(x); }},
      {"Cos", "", [](double x) { return std::cos(x); }},
      {"Tan", "", [](double x) { return std::tan(x); }},
      {"Tanh", "", [](double x) { return std::tanh(x); }},
      {"Sinh", "", [](double x) { return std::sinh(x); }},
      {"Cosh", "", [](double x) { return std::cosh(x); }},
      {"Relu", "", [](double x) { return std::max(x, 0.0); }},
      {"Sigmoid", "", sigmoid},
      {"Swish", "", [&](double x) { return x * sigmoid(x); }},
      {"Softplus", "", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", "", [](double x) { return x / (1 + std::abs(x)); }},
      {"LeakyRelu", "", [](double x) { return x < 0 ? 0.01 * x : x; }},
      {"LeakyRelu", Real("alpha", 0.5),
       [](double x) { return x < 0 ? 0.5 * x : x; }},
      {"ThresholdedRelu", "", [](double x) { return x > 1 ? x : 0; }},
      {"Elu", Real("alpha", 2),
       [](double x) { return x < 0 ? 2 * std::expm1(x) : x; }},
      {"Selu", "",
       [](double x) {
         return 1.0507009873554805 *
                (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {"HardSigmoid", "",
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"Clip", Real("min", -1) + Real("max", 1),
       [](double x) { return std::clamp(x, -1.0, 1.0); }},
      {"Clip", Real("max", 1), [](double x) { return std::min(x, 1.0); }},
      {"Scale", Real("scale", 3), [](double x) { return 3 * x; }},
      {"Pow", Real("exponent", 2), [](double x) { return x * x; }},
      {"Dropout", Int("is_test", 1), [](double x) { return x; }},
      {"StopGradient", "", [](double x) { return x; }},
  };
  const std::vector<double> x = {-2.5, -1.25, -0.5, 0.5, 1.5, 2};
  for (const Case& test : cases) {
    SCOPED_TRACE(test.type + " " + test.arguments);
    std::vector<double> y;
    for (const double value : x) y.push_back(test.function(value));
    ExpectNumbers(Op(test.type, test.arguments).Input(F32({6}, x)).Run(),
                  {F32({6}, y)});
  }
  ExpectNumbers(Op("Sqrt").Input(F32({1}, {4})).Run(), {F32({1}, {2})});
  ExpectNumbers(Op("Rsqrt").Input(F32({1}, {4})).Run(), {F32({1}, {0.5})});
  ExpectNumbers(Op("Log").Input(F32({1}, {M_E})).Run(), {F32({1}, {1})});
  ExpectNumbers(Op("Logit").Input(F32({2}, {0.75, 2})).Run(),
                {F32({2}, {std::log(3.0), std::log((1 - 1e-6) / 1e-6)})}, 0.02);
  ExpectNumbers(Op("Cast", Int("to", 10)).Input(F32({2}, {1, 2})).Run(),
                {I64({2}, {1, 2})});
  ExpectNumbers(Op("Cast", Word("to", "int32")).Input(F32({1}, {3})).Run(),
                {I32({1}, {3})});
}

TEST(Caffe2Operators, OfTwoOperands) {
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"Add", {4, 3, 1}},    {"Sub", {2, -7, -5}},
      {"Mul", {3, -10, -6}}, {"Div", {3, -0.4, -2.0 / 3}},
      {"Max", {3, 5, 3}},    {"Min", {1, -2, -2}},
      {"Sum", {4, 3, 1}},    {"Mean", {2, 1.5, 0.5}},
      {"Pow", {3, -32, -8}},
  };
  const Numbers a = F32({3}, {3, -2, -2}), b = F32({3}, {1, 5, 3});
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    ExpectNumbers(Op(type).Input(a).Input(b).Run(), {F32({3}, expected)});
  }
  const std::vector<std::pair<std::string, std::vector<double>>> truths = {
      {"GT", {1, 0, 0}}, {"GE", {1, 0, 1}}, {"LT", {0, 1, 0}},
      {"LE", {0, 1, 1}}, {"EQ", {0, 0, 1}}, {"NE", {1, 1, 0}},
  };
  for (const auto& [type, expected] : truths) {
    SCOPED_TRACE(type);
    ExpectNumbers(
        Op(type).Input(F32({3}, {3, 1, 2})).Input(F32({3}, {1, 3, 2})).Run(),
        {Bools({3}, expected)});
  }
  const Numbers p = Bools({4}, {0, 0, 1, 1}), q = Bools({4}, {0, 1, 0, 1});
  ExpectNumbers(Op("Where")
                    .Constant(p)
                    .Input(F32({4}, {1, 2, 3, 4}))
                    .Input(F32({4}, {5, 6, 7, 8}))
                    .Run(),
                {F32({4}, {5, 6, 3, 4})});
  ExpectNumbers(Op("And").Constant(p).Constant(q).Run(),
                {Bools({4}, {0, 0, 0, 1})});
  ExpectNumbers(Op("Or").Constant(p).Constant(q).Run(),
                {Bools({4}, {0, 1, 1, 1})});
  ExpectNumbers(Op("Xor").Constant(p).Constant(q).Run(),
                {Bools({4}, {0, 1, 1, 0})});
  ExpectNumbers(Op("Not").Constant(p).Run(), {Bools({4}, {1, 1, 0, 0})});
}

// If the argument "broadcast" is set, the dims of the second operand correspond
// to the dims of the first operand from an axis on. Otherwise numpy's rules
// apply.
TEST(Caffe2Operators, Broadcasting) {
  const Numbers a = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto add = [&](const std::string& arguments, const Numbers& b) {
    return Op("Add", arguments).Input(a).Input(b).Run();
  };
  ExpectNumbers(add(Int("broadcast", 1), F32({3}, {10, 20, 30})),
                {F32({2, 3}, {11, 22, 33, 14, 25, 36})});
  ExpectNumbers(add(Int("broadcast", 1) + Int("axis", 0), F32({2}, {10, 20})),
                {F32({2, 3}, {11, 12, 13, 24, 25, 26})});
  ExpectNumbers(add(Int("broadcast", 1), F32({1}, {10})),
                {F32({2, 3}, {11, 12, 13, 14, 15, 16})});
  ExpectNumbers(
      add(Int("broadcast", 1) + Int("axis", 0), F32({2, 1, 1}, {10, 20})),
      {F32({2, 3}, {11, 12, 13, 24, 25, 26})});
  ExpectNumbers(add("", F32({2, 1}, {10, 20})),
                {F32({2, 3}, {11, 12, 13, 24, 25, 26})});
  ExpectNumbers(Op("Mul", Int("broadcast", 1) + Word("axis_str", "C"))
                    .Input(F32({1, 2, 1, 2}, {1, 2, 3, 4}))
                    .Input(F32({2}, {10, 100}))
                    .Run(),
                {F32({1, 2, 1, 2}, {10, 20, 300, 400})});
  EXPECT_FALSE(
      add(Int("broadcast", 1) + Int("axis", 1), F32({2}, {1, 2})).ok());
}

TEST(Caffe2Operators, PRelu) {
  ExpectNumbers(Op("PRelu")
                    .Input(F32({1, 2, 2}, {-1, 2, -3, 4}))
                    .Constant(F32({2}, {0.5, 2}))
                    .Run(),
                {F32({1, 2, 2}, {-0.5, 2, -6, 4})});
  ExpectNumbers(Op("PRelu", Word("order", "NHWC"))
                    .Input(F32({1, 2, 2}, {-1, -2, -3, 4}))
                    .Constant(F32({2}, {0.5, 2}))
                    .Run(),
                {F32({1, 2, 2}, {-0.5, -4, -1.5, 4})});
}

// The weights are [O, I / groups, h, w], or [O, h, w, I] in the order NHWC.
TEST(Caffe2Operators, Conv) {
  Op grouped("Conv", Int("kernel_h", 1) + Int("kernel_w", 2) +
                         Ints("strides", {1, 2}) + Ints("pads", {0, 1, 0, 1}) +
                         Int("group", 2));
  grouped.Input(F32({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}));
  grouped.Constant(F32({2, 1, 1, 2}, {1, 10, 100, 1000}));
  grouped.Constant(F32({2}, {0, 0.5}));
  ExpectNumbers(grouped.Run(), {F32({1, 2, 1, 2}, {10, 32, 4000.5, 6500.5})});
  // In the order NHWC, channels are the last dim, and the kernel's elements are
  // ordered by position, then by channel.
  Op last("Conv", Ints("kernels", {1, 2}) + Word("order", "NHWC"));
  last.Input(F32({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  last.Constant(F32({1, 1, 2, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(last.Run(), {F32({1, 1, 2, 1}, {4321, 6543})});
  // The padding is SAME, with the odd padding at the end.
  Op same("Conv", Int("kernel", 2) + Int("legacy_pad", 2));
  same.Input(F32({1, 1, 1, 2}, {1, 2}));
  same.Constant(F32({1, 1, 2, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(same.Run(), {F32({1, 1, 1, 2}, {21, 2})});
  Op dilated("Conv1D", Ints("kernels", {2}) + Ints("dilations", {2}));
  dilated.Input(F32({1, 1, 4}, {1, 2, 3, 4}));
  dilated.Constant(F32({1, 1, 2}, {1, 10}));
  ExpectNumbers(dilated.Run(), {F32({1, 1, 2}, {31, 42})});
}

// The weights are [I, O, h, w], or [I, h, w, O] in the order NHWC.
TEST(Caffe2Operators, ConvTranspose) {
  Op op("ConvTranspose", Ints("kernels", {1, 2}) + Ints("strides", {1, 2}) +
                             Ints("adjs", {0, 1}));
  op.Input(F32({1, 2, 1, 2}, {1, 2, 3, 4}));
  op.Constant(F32({2, 1, 1, 2}, {1, 10, 100, 1000}));
  op.Constant(F32({1}, {0.5}));
  ExpectNumbers(op.Run(),
                {F32({1, 1, 1, 5}, {301.5, 3010.5, 402.5, 4020.5, 0.5})});
  Op last("ConvTranspose", Ints("kernels", {1, 2}) + Word("order", "NHWC"));
  last.Input(F32({1, 1, 2, 1}, {1, 2}));
  last.Constant(F32({1, 1, 2, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(last.Run(), {F32({1, 1, 3, 2}, {1, 10, 102, 1020, 200, 2000})});
}

TEST(Caffe2Operators, Pooling) {
  const Numbers x = F32({1, 1, 1, 4}, {1, -2, 3, 5});
  const std::string window = Int("kernel_h", 1) + Int("kernel_w", 3) +
                             Int("stride_h", 1) + Int("stride_w", 2);
  ExpectNumbers(Op("MaxPool", window).Input(x).Run(), {F32({1, 1, 1, 1}, {3})});
  // The value 3 of legacy_pad means Caffe's rule: there is one more window if a
  // part of the image would be left over.
  ExpectNumbers(Op("MaxPool", window + Int("legacy_pad", 3)).Input(x).Run(),
                {F32({1, 1, 1, 2}, {3, 5})});
  ExpectNumbers(Op("AveragePool", window + Int("legacy_pad", 3)).Input(x).Run(),
                {F32({1, 1, 1, 2}, {2.0 / 3, 4})});
  const std::string padded = Ints("kernels", {1, 2}) + Ints("strides", {1, 2}) +
                             Ints("pads", {0, 1, 0, 1});
  ExpectNumbers(Op("AveragePool", padded).Input(x).Run(),
                {F32({1, 1, 1, 3}, {1, 0.5, 5})});
  ExpectNumbers(
      Op("AveragePool", padded + Int("count_include_pad", 1)).Input(x).Run(),
      {F32({1, 1, 1, 3}, {0.5, 0.5, 2.5})});
  ExpectNumbers(Op("AveragePool", Int("global_pooling", 1)).Input(x).Run(),
                {F32({1, 1, 1, 1}, {1.75})});
  ExpectNumbers(Op("MaxPool", Int("global_pooling", 1) + Word("order", "NHWC"))
                    .Input(F32({1, 1, 2, 2}, {1, 4, 3, 2}))
                    .Run(),
                {F32({1, 1, 1, 2}, {3, 4})});
}

TEST(Caffe2Operators, Products) {
  const Numbers x = F32({2, 1, 2}, {1, 2, 3, 4});
  const Numbers bias = F32({2}, {0, 0.5});
  ExpectNumbers(Op("FC")
                    .Input(x)
                    .Constant(F32({2, 2}, {1, 10, 100, 1000}))
                    .Constant(bias)
                    .Run(),
                {F32({2, 2}, {21, 2100.5, 43, 4300.5})});
  ExpectNumbers(Op("FC", Int("axis", 2))
                    .Input(x)
                    .Constant(F32({2, 2, 1}, {1, 10, 100, 1000}))
                    .Constant(bias)
                    .Run(),
                {F32({2, 1, 2}, {21, 2100.5, 43, 4300.5})});
  ExpectNumbers(Op("FCTransposed")
                    .Input(x)
                    .Constant(F32({2, 2}, {1, 100, 10, 1000}))
                    .Constant(bias)
                    .Run(),
                {F32({2, 2}, {21, 2100.5, 43, 4300.5})});
  const Numbers row = F32({1, 2}, {3, 4});
  ExpectNumbers(Op("MatMul", Int("trans_b", 1))
                    .Input(row)
                    .Input(F32({1, 2}, {5, 6}))
                    .Run(),
                {F32({1, 1}, {39})});
  ExpectNumbers(Op("BatchMatMul", Int("trans_a", 1))
                    .Input(F32({2, 1, 2}, {1, 2, 3, 4}))
                    .Input(F32({2, 1, 1}, {10, 100}))
                    .Run(),
                {F32({2, 2, 1}, {10, 20, 300, 400})});
  ExpectNumbers(Op("DotProduct").Input(row).Input(row).Run(), {F32({1}, {25})});
  ExpectNumbers(
      Op("SquaredL2Distance").Input(row).Input(F32({1, 2}, {1, 1})).Run(),
      {F32({1}, {6.5})});
}

TEST(Caffe2Operators, Normalizations) {
  Op batch("SpatialBN", Int("is_test", 1) + Real("epsilon", 0));
  batch.Input(F32({1, 2, 1, 1}, {3, 5}));
  batch.Constant(F32({2}, {2, 1})).Constant(F32({2}, {1, 0}));
  batch.Constant(F32({2}, {1, 1})).Constant(F32({2}, {4, 16}));
  ExpectNumbers(batch.Run(), {F32({1, 2, 1, 1}, {3, 1})});
  Op last("SpatialBN",
          Int("is_test", 1) + Real("epsilon", 0) + Word("order", "NHWC"));
  last.Input(F32({1, 1, 1, 2}, {3, 5}));
  last.Constant(F32({2}, {2, 1})).Constant(F32({2}, {1, 0}));
  last.Constant(F32({2}, {1, 1})).Constant(F32({2}, {4, 16}));
  ExpectNumbers(last.Run(), {F32({1, 1, 1, 2}, {3, 1})});
  ExpectNumbers(Op("AffineChannel")
                    .Input(F32({1, 2, 1, 1}, {3, 5}))
                    .Constant(F32({2}, {2, 3}))
                    .Constant(F32({2}, {1, -1}))
                    .Run(),
                {F32({1, 2, 1, 1}, {7, 14})});
  ExpectNumbers(Op("InstanceNorm", Real("epsilon", 0))
                    .Input(F32({1, 2, 2}, {1, 3, 10, 50}))
                    .Constant(F32({2}, {1, 2}))
                    .Constant(F32({2}, {0, 5}))
                    .Run(),
                {F32({1, 2, 2}, {-1, 1, 3, 7})});
  ExpectNumbers(Op("GroupNorm", Int("group", 1) + Real("epsilon", 0))
                    .Input(F32({1, 2, 1}, {1, 3}))
                    .Constant(F32({2}, {1, 2}))
                    .Constant(F32({2}, {0, 5}))
                    .Run(),
                {F32({1, 2, 1}, {-1, 7})});
  ExpectNumbers(Op("LayerNorm", Real("epsilon", 0))
                    .Input(F32({2, 2}, {1, 3, 10, 50}))
                    .Results(3)
                    .Run(),
                {F32({2, 2}, {-1, 1, -1, 1}), F32({2, 1}, {2, 30}),
                 F32({2, 1}, {1, 20})});
  const double scale = 1 + 0.5 * (1 + 4);
  ExpectNumbers(Op("LRN", Int("size", 3) + Real("alpha", 1.5) + Real("beta", 1))
                    .Input(F32({1, 2, 1, 1}, {1, 2}))
                    .Results(2)
                    .Run(),
                {F32({1, 2, 1, 1}, {1 / scale, 2 / scale}),
                 F32({1, 2, 1, 1}, {scale, scale})});
  ExpectNumbers(Op("Normalize").Input(F32({1, 2}, {3, 4})).Run(),
                {F32({1, 2}, {0.6, 0.8})});
  ExpectNumbers(Op("NormalizeL1").Input(F32({1, 2}, {-1, 3})).Run(),
                {F32({1, 2}, {-0.25, 0.75})});
  // Softmax sums over all dims from the axis on, here over the dims 1 and 2.
  const double sum = std::exp(1.0) + std::exp(2.0);
  ExpectNumbers(Op("Softmax").Input(F32({1, 2, 1}, {1, 2})).Run(),
                {F32({1, 2, 1}, {std::exp(1.0) / sum, std::exp(2.0) / sum})});
}

TEST(Caffe2Operators, Reductions) {
  const Numbers x = F32({2, 3}, {1, -2, 3, 4, 5, -6});
  const std::string axis = Ints("axes", {1});
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"ReduceSum", {2, 3}}, {"ReduceMean", {2.0 / 3, 1}},
      {"ReduceMax", {3, 5}}, {"ReduceMin", {-2, -6}},
      {"ReduceL1", {6, 15}}, {"ReduceL2", {std::sqrt(14.0), std::sqrt(77.0)}},
  };
  for (const auto& [type, expected] : cases) {
    SCOPED_TRACE(type);
    ExpectNumbers(Op(type, axis).Input(x).Run(), {F32({2, 1}, expected)});
    ExpectNumbers(Op(type, axis + Int("keepdims", 0)).Input(x).Run(),
                  {F32({2}, expected)});
  }
  ExpectNumbers(Op("ReduceFrontSum").Input(x).Run(), {F32({3}, {5, 3, -3})});
  ExpectNumbers(Op("ReduceBackMean").Input(x).Run(), {F32({2}, {2.0 / 3, 1})});
  ExpectNumbers(Op("ReduceBackMax", Int("num_reduce_dim", 2)).Input(x).Run(),
                {F32({}, {5})});
  ExpectNumbers(Op("SumElements").Input(x).Run(), {F32({}, {5})});
  ExpectNumbers(Op("AveragedLoss").Input(x).Run(), {F32({}, {5.0 / 6})});
  ExpectNumbers(Op("ArgMax").Input(x).Run(), {I64({2, 1}, {2, 1})});
  ExpectNumbers(
      Op("ArgMin", Int("axis", 0) + Int("keepdims", 0)).Input(x).Run(),
      {I64({3}, {0, 0, 1})});
  ExpectNumbers(Op("TopK", Int("k", 2)).Input(x).Results(2).Run(),
                {F32({2, 2}, {3, 1, 5, 4}), I64({2, 2}, {2, 0, 1, 0})});
  ExpectNumbers(
      Op("OneHot").Input(I64({2}, {2, 0})).Constant(I64({1}, {3})).Run(),
      {F32({2, 3}, {0, 0, 1, 1, 0, 0})});
}

TEST(Caffe2Operators, Shapes) {
  const Numbers x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectNumbers(
      Op("Reshape", Ints("shape", {0, -1, 1})).Input(x).Results(2).Run(),
      {F32({2, 3, 1}, x.values), I64({2}, {2, 3})});
  ExpectNumbers(
      Op("Reshape").Input(x).Constant(I64({1}, {-1})).Results(2).Run(),
      {F32({6}, x.values), I64({2}, {2, 3})});
  ExpectNumbers(Op("Flatten").Input(F32({1, 2, 3}, x.values)).Run(),
                {F32({1, 6}, x.values)});
  ExpectNumbers(Op("Flatten", Int("axis", 2)).Input(x).Run(),
                {F32({6, 1}, x.values)});
  ExpectNumbers(Op("FlattenToVec").Input(x).Run(), {F32({6}, x.values)});
  ExpectNumbers(Op("Transpose").Input(x).Run(),
                {F32({3, 2}, {1, 4, 2, 5, 3, 6})});
  ExpectNumbers(Op("NCHW2NHWC").Input(F32({1, 2, 1, 3}, x.values)).Run(),
                {F32({1, 1, 3, 2}, {1, 4, 2, 5, 3, 6})});
  ExpectNumbers(Op("NHWC2NCHW").Input(F32({1, 1, 3, 2}, x.values)).Run(),
                {F32({1, 2, 1, 3}, {1, 3, 5, 2, 4, 6})});
  ExpectNumbers(Op("ExpandDims", Ints("dims", {0, 3})).Input(x).Run(),
                {F32({1, 2, 3, 1}, x.values)});
  ExpectNumbers(
      Op("Squeeze", Ints("dims", {0})).Input(F32({1, 6}, x.values)).Run(),
      {F32({6}, x.values)});
  ExpectNumbers(Op("Shape").Input(x).Run(), {I64({2}, {2, 3})});
  ExpectNumbers(Op("Shape", Ints("axes", {1})).Input(x).Run(), {I64({1}, {3})});
}

TEST(Caffe2Operators, Movement) {
  const Numbers x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectNumbers(
      Op("Concat").Input(x).Input(F32({2, 1}, {10, 20})).Results(2).Run(),
      {F32({2, 4}, {1, 2, 3, 10, 4, 5, 6, 20}), I32({2}, {3, 1})});
  ExpectNumbers(Op("Concat", Int("axis", 0) + Int("add_axis", 1))
                    .Input(F32({2}, {1, 2}))
                    .Input(F32({2}, {3, 4}))
                    .Results(2)
                    .Run(),
                {F32({2, 2}, {1, 2, 3, 4}), I32({2}, {1, 1})});
  ExpectNumbers(Op("Split", Ints("split", {1, 2}) + Int("axis", 1))
                    .Input(x)
                    .Results(2)
                    .Run(),
                {F32({2, 1}, {1, 4}), F32({2, 2}, {2, 3, 5, 6})});
  ExpectNumbers(Op("Split", Int("axis", 0)).Input(x).Results(2).Run(),
                {F32({1, 3}, {1, 2, 3}), F32({1, 3}, {4, 5, 6})});
  // In Slice, an end of -1 means after the last element, and -2 means before
  // the last element.
  ExpectNumbers(Op("Slice", Ints("starts", {1, 0}) + Ints("ends", {-1, -2}))
                    .Input(x)
                    .Run(),
                {F32({1, 2}, {4, 5})});
  ExpectNumbers(Op("Gather").Constant(x).Input(I64({2}, {1, 0})).Run(),
                {F32({2, 3}, {4, 5, 6, 1, 2, 3})});
  ExpectNumbers(Op("BatchGather").Constant(x).Input(I64({1}, {2})).Run(),
                {F32({2, 1}, {3, 6})});
  ExpectNumbers(Op("Tile", Int("tiles", 2) + Int("axis", 1)).Input(x).Run(),
                {F32({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})});
  ExpectNumbers(Op("ChannelShuffle", Int("group", 2))
                    .Input(F32({1, 4, 1, 1}, {1, 2, 3, 4}))
                    .Run(),
                {F32({1, 4, 1, 1}, {1, 3, 2, 4})});
  // SpaceToBatch makes one image for each position in a block of 2 x 2 pixels.
  const Numbers image = F32({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Numbers places = F32({4, 1, 1, 2}, {1, 3, 2, 4, 5, 7, 6, 8});
  ExpectNumbers(Op("SpaceToBatch").Input(image).Run(), {places});
  ExpectNumbers(Op("BatchToSpace").Input(places).Run(), {image});
  const std::string padding = Int("pad", 1);
  const Numbers two = F32({2, 1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Numbers padded = F32({8, 1, 2, 2}, {0, 0, 0, 4, 0, 0, 0, 8,  //
                                            0, 0, 3, 0, 0, 0, 7, 0,  //
                                            0, 2, 0, 0, 0, 6, 0, 0,  //
                                            1, 0, 0, 0, 5, 0, 0, 0});
  ExpectNumbers(Op("SpaceToBatch", padding).Input(two).Run(), {padded});
  ExpectNumbers(Op("BatchToSpace", padding).Input(padded).Run(), {two});
  const Numbers row = F32({1, 1, 1, 3}, {1, 2, 3});
  const std::string pads = Ints("pads", {0, 1, 0, 2});
  ExpectNumbers(Op("PadImage", pads + Real("value", 9)).Input(row).Run(),
                {F32({1, 1, 1, 6}, {9, 1, 2, 3, 9, 9})});
  ExpectNumbers(Op("PadImage", pads + Word("mode", "reflect")).Input(row).Run(),
                {F32({1, 1, 1, 6}, {2, 1, 2, 3, 2, 1})});
  ExpectNumbers(Op("PadImage", pads + Word("mode", "edge")).Input(row).Run(),
                {F32({1, 1, 1, 6}, {1, 1, 2, 3, 3, 3})});
  ExpectNumbers(Op("ResizeNearest", Real("width_scale", 2)).Input(row).Run(),
                {F32({1, 1, 1, 6}, {1, 1, 2, 2, 3, 3})});
  ExpectNumbers(Op("ResizeNearest", Real("width_scale", 1.5)).Input(row).Run(),
                {F32({1, 1, 1, 4}, {1, 1, 2, 3})});
  // Bilinear resizing keeps the values at the image's corners.
  ExpectNumbers(Op("UpsampleBilinear", Real("width_scale", 2)).Input(row).Run(),
                {F32({1, 1, 1, 6}, {1, 1.4, 1.8, 2.2, 2.6, 3})});
  ExpectNumbers(Op("RoIPool", Int("pooled_h", 1) + Int("pooled_w", 2))
                    .Input(F32({1, 1, 1, 4}, {1, 2, 3, 4}))
                    .Constant(F32({1, 5}, {0, 0, 0, 3, 0}))
                    .Run(),
                {F32({1, 1, 1, 2}, {2, 4})});
}

TEST(Caffe2Operators, Fills) {
  ExpectNumbers(Op("ConstantFill", Ints("shape", {2}) + Real("value", 3)).Run(),
                {F32({2}, {3, 3})});
  ExpectNumbers(Op("ConstantFill", Ints("shape", {2}) + Int("value", 3)).Run(),
                {I64({2}, {3, 3})});
  ExpectNumbers(Op("ConstantFill",
                   Int("dtype", 2) + Int("value", 3) + Ints("extra_shape", {1}))
                    .Input(F32({2}, {8, 9}))
                    .Run(),
                {I32({2, 1}, {3, 3})});
}

}  // namespace
}  // namespace ember::tests
