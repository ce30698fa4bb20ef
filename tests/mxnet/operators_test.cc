// Tests single operators against their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/mxnet/one_operator.h"

namespace ember::tests {
namespace {

using Op = OneMxnetOperator;

std::vector<double> Map(const std::vector<double>& x,
                        const std::function<double(double)>& f) {
  std::vector<double> y;
  for (const double value : x) y.push_back(f(value));
  return y;
}

TEST(Operators, OfOneOperand) {
  const std::vector<std::pair<std::string, std::function<double(double)>>>
      functions = {
          {"abs", [](double x) { return std::abs(x); }},
          {"negative", [](double x) { return -x; }},
          {"reciprocal", [](double x) { return 1 / x; }},
          {"sign", [](double x) { return x < 0 ? -1.0 : x > 0; }},
          {"floor", [](double x) { return std::floor(x); }},
          {"ceil", [](double x) { return std::ceil(x); }},
          {"round", [](double x) { return std::round(x); }},
          {"rint", [](double x) { return std::nearbyint(x); }},
          {"fix", [](double x) { return std::trunc(x); }},
          {"square", [](double x) { return x * x; }},
          {"cbrt", [](double x) { return std::cbrt(x); }},
          {"exp", [](double x) { return std::exp(x); }},
          {"expm1", [](double x) { return std::expm1(x); }},
          {"sin", [](double x) { return std::sin(x); }},
          {"tan", [](double x) { return std::tan(x); }},
          {"sinh", [](double x) { return std::sinh(x); }},
          {"cosh", [](double x) { return std::cosh(x); }},
          {"erf", [](double x) { return std::erf(x); }},
          {"arctan", [](double x) { return std::atan(x); }},
          {"gammaln", [](double x) { return std::lgamma(x); }},
          {"degrees", [](double x) { return x * 180 / M_PI; }},
          {"relu", [](double x) { return std::max(x, 0.0); }},
          {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
          {"softsign", [](double x) { return x / (1 + std::abs(x)); }},
          {"log_sigmoid", [](double x) { return -std::log1p(std::exp(-x)); }},
          {"logical_not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
          {"zeros_like", [](double) { return 0.0; }},
          {"ones_like", [](double) { return 1.0; }},
      };
  const std::vector<double> x = {-2.5, -1.25, -0.5, 0.5, 1.5, 2};
  for (const auto& [name, function] : functions) {
    SCOPED_TRACE(name);
    ExpectNumbers(Op(name).Input(F32({6}, x)).Run(),
                  {F32({6}, Map(x, function))});
  }
  const std::vector<double> positive = {0.5, 1, 8};
  ExpectNumbers(Op("log2").Input(F32({3}, positive)).Run(),
                {F32({3}, {-1, 0, 3})});
  ExpectNumbers(Op("rsqrt").Input(F32({1}, {4})).Run(), {F32({1}, {0.5})});
  ExpectNumbers(Op("arcsin").Input(F32({1}, {0.5})).Run(),
                {F32({1}, {std::asin(0.5)})});
  ExpectNumbers(Op("arccos").Input(F32({1}, {0.5})).Run(),
                {F32({1}, {std::acos(0.5)})});
  ExpectNumbers(Op("erfinv").Input(F32({1}, {0.5})).Run(),
                {F32({1}, {0.4769362762044699})});
  // Minus Euler's constant.
  ExpectNumbers(Op("digamma").Input(F32({1}, {1})).Run(),
                {F32({1}, {-0.5772156649015329})});
}

TEST(Operators, OfTwoOperands) {
  const std::vector<std::pair<std::string, std::vector<double>>> cases = {
      {"elemwise_add", {4, 3, 1}},
      {"broadcast_sub", {2, -7, -5}},
      {"_Mul", {3, -10, -6}},
      {"_div", {3, -0.4, -2.0 / 3}},
      {"broadcast_mod", {0, 3, 1}},
      {"_maximum", {3, 5, 3}},
      {"_minimum", {1, -2, -2}},
      {"broadcast_greater", {1, 0, 0}},
      {"_lesser_equal", {0, 1, 1}},
      {"_equal", {0, 0, 0}},
      {"broadcast_power", {3, -32, -8}},
  };
  for (const auto& [name, expected] : cases) {
    SCOPED_TRACE(name);
    Op op(name);
    op.Input(F32({3}, {3, -2, -2})).Input(F32({3}, {1, 5, 3}));
    ExpectNumbers(op.Run(), {F32({3}, expected)});
  }
  const double part = 0.7f;
  Op remainder("broadcast_mod");
  remainder.Input(F32({4}, {-7, 7, 7, 5})).Input(F32({4}, {0.7, 0.7, -2, 0}));
  ExpectNumbers(remainder.Run(),
                {F32({4}, {11 * part - 7, 7 - 10 * part, -1, 0})});
  ExpectNumbers(
      Op("_rmod_scalar", {{"scalar", "-7"}}).Input(F32({2}, {0.7, 3})).Run(),
      {F32({2}, {11 * part - 7, 2})});
  ExpectNumbers(
      Op("_rminus_scalar", {{"scalar", "10"}}).Input(F32({2}, {1, 2})).Run(),
      {F32({2}, {9, 8})});
  ExpectNumbers(
      Op("_RDivScalar", {{"scalar", "1.0"}}).Input(F32({2}, {2, 4})).Run(),
      {F32({2}, {0.5, 0.25})});
  ExpectNumbers(Op("clip", {{"a_min", "-1"}, {"a_max", "1e0"}})
                    .Input(F32({3}, {-5, 0.5, 5}))
                    .Run(),
                {F32({3}, {-1, 0.5, 1})});
}

// The weights are [O, I, h, w]; the cases have groups, strides and padding.
TEST(Operators, Convolution) {
  Op op("Convolution", {{"kernel", "(1, 2)"},
                        {"num_filter", "2"},
                        {"num_group", "2"},
                        {"stride", "(1, 2)"},
                        {"pad", "(0, 1)"}});
  op.Input(F32({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}));
  op.Constant(F32({2, 1, 1, 2}, {1, 10, 100, 1000}));
  op.Constant(F32({2}, {0, 0.5}));
  ExpectNumbers(op.Run(), {F32({1, 2, 1, 2}, {10, 32, 4000.5, 6500.5})});
}

TEST(Operators, Deconvolution) {
  Op op("Deconvolution", {{"kernel", "(2,)"},
                          {"stride", "(2,)"},
                          {"adj", "(1,)"},
                          {"num_filter", "1"}});
  op.Input(F32({1, 2, 2}, {1, 2, 3, 4}));
  op.Constant(F32({2, 1, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(op.Run(), {F32({1, 1, 5}, {301, 3010, 402, 4020, 0})});
}

TEST(Operators, Pooling) {
  Op full("Pooling", {{"kernel", "(2, 2)"},
                      {"stride", "(2, 2)"},
                      {"pooling_convention", "full"}});
  full.Input(F32({1, 1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  ExpectNumbers(full.Run(), {F32({1, 1, 2, 1}, {4, 6})});
  Op mean("Pooling", {{"kernel", "(1, 2)"},
                      {"pool_type", "avg"},
                      {"pad", "(0, 1)"},
                      {"stride", "(1, 2)"}});
  mean.Input(F32({1, 1, 1, 2}, {2, 4}));
  ExpectNumbers(mean.Run(), {F32({1, 1, 1, 2}, {1, 2})});
  Op excluded("Pooling", {{"kernel", "(1, 2)"},
                          {"pool_type", "avg"},
                          {"pad", "(0, 1)"},
                          {"stride", "(1, 2)"},
                          {"count_include_pad", "False"}});
  excluded.Input(F32({1, 1, 1, 2}, {2, 4}));
  ExpectNumbers(excluded.Run(), {F32({1, 1, 1, 2}, {2, 4})});
  Op global("Pooling", {{"global_pool", "True"}, {"pool_type", "avg"}});
  global.Input(F32({1, 2, 1, 2}, {1, 3, 5, 7}));
  ExpectNumbers(global.Run(), {F32({1, 2, 1, 1}, {2, 6})});
}

TEST(Operators, Normalizations) {
  Op batch("BatchNorm", {{"eps", "0"}, {"fix_gamma", "False"}});
  batch.Input(F32({1, 2, 1}, {3, 5}));
  batch.Constant(F32({2}, {2, 1})).Constant(F32({2}, {10, 20}));
  batch.Constant(F32({2}, {1, 1})).Constant(F32({2}, {4, 16}));
  ExpectNumbers(batch.Run(), {F32({1, 2, 1}, {12, 21})});
  Op fixed("BatchNorm", {{"eps", "0"}});
  fixed.Input(F32({1, 1}, {3}));
  for (const double value : {9.0, 10.0, 1.0, 4.0})
    fixed.Constant(F32({1}, {value}));
  ExpectNumbers(fixed.Run(), {F32({1, 1}, {11})});
  Op layer("LayerNorm", {{"eps", "0"}});
  layer.Input(F32({1, 2}, {1, 3}));
  layer.Constant(F32({2}, {2, 3})).Constant(F32({2}, {0, 1}));
  ExpectNumbers(layer.Run(), {F32({1, 2}, {-2, 4})});
  Op unit("L2Normalization", {{"eps", "0"}});
  unit.Input(F32({1, 2}, {3, 4}));
  ExpectNumbers(unit.Run(), {F32({1, 2}, {0.6, 0.8})});
  Op local("LRN",
           {{"nsize", "3"}, {"alpha", "3"}, {"beta", "1"}, {"knorm", "1"}});
  local.Input(F32({1, 2, 1, 1}, {1, 2}));
  ExpectNumbers(local.Run(), {F32({1, 2, 1, 1}, {1.0 / 6, 2.0 / 6})});
}

TEST(Operators, Activations) {
  Op prelu("LeakyReLU", {{"act_type", "prelu"}});
  prelu.Input(F32({1, 2, 1}, {-2, -3})).Constant(F32({2}, {0.5, 2}));
  ExpectNumbers(prelu.Run(), {F32({1, 2, 1}, {-1, -6})});
  ExpectNumbers(
      Op("Activation", {{"act_type", "softrelu"}}).Input(F32({1}, {1})).Run(),
      {F32({1}, {std::log1p(std::exp(1.0))})});
  Op softmax("softmax", {{"axis", "0"}, {"temperature", "2"}});
  softmax.Input(F32({2}, {0, 2 * std::log(3.0)}));
  ExpectNumbers(softmax.Run(), {F32({2}, {0.25, 0.75})});
  // The softmax is over the channels of an image.
  Op channel("SoftmaxActivation", {{"mode", "channel"}});
  channel.Input(F32({1, 2, 2}, {0, 0, std::log(3.0), 0}));
  ExpectNumbers(channel.Run(), {F32({1, 2, 2}, {0.25, 0.5, 0.75, 0.5})});
}

TEST(Operators, Products) {
  Op dense("FullyConnected", {{"num_hidden", "1"}});
  dense.Input(F32({1, 2, 1}, {1, 2})).Constant(F32({1, 2}, {3, 4}));
  dense.Constant(F32({1}, {0.5}));
  ExpectNumbers(dense.Run(), {F32({1, 1}, {11.5})});
  Op dot("dot", {{"transpose_b", "True"}});
  dot.Input(F32({1, 2}, {1, 2})).Input(F32({2, 2}, {1, 10, 100, 1000}));
  ExpectNumbers(dot.Run(), {F32({1, 2}, {21, 2100})});
  Op batch("batch_dot", {{"transpose_a", "1"}});
  batch.Input(F32({1, 2, 1}, {1, 2})).Input(F32({1, 2, 1}, {3, 4}));
  ExpectNumbers(batch.Run(), {F32({1, 1, 1}, {11})});
  Op table("Embedding", {{"input_dim", "2"}, {"output_dim", "1"}});
  table.Input(F32({3}, {1, 0, 9})).Constant(F32({2, 1}, {10, 20}));
  ExpectNumbers(table.Run(), {F32({3, 1}, {20, 10, 20})});
}

TEST(Operators, ReshapeCodes) {
  const auto shape = [](const std::string& codes, const std::string& reverse) {
    std::vector<double> x(24);
    const auto result = Op("Reshape", {{"shape", codes}, {"reverse", reverse}})
                            .Input(F32({2, 3, 4}, x))
                            .Run();
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? result->at(0).dims : std::vector<int64_t>();
  };
  using Dims = std::vector<int64_t>;
  EXPECT_EQ(shape("(4, 0, 2)", "False"), (Dims{4, 3, 2}));
  EXPECT_EQ(shape("(6, 1, -1)", "False"), (Dims{6, 1, 4}));
  EXPECT_EQ(shape("(-2,)", "False"), (Dims{2, 3, 4}));
  EXPECT_EQ(shape("(-3, 4)", "False"), (Dims{6, 4}));
  EXPECT_EQ(shape("(-4, 1, 2, -2)", "False"), (Dims{1, 2, 3, 4}));
  EXPECT_EQ(shape("(2, -4, -1, 3, -2)", "False"), (Dims{2, 1, 3, 4}));
  EXPECT_EQ(shape("(-1, 0)", "True"), (Dims{6, 4}));
}

TEST(Operators, Movement) {
  const Numbers x = F32({2, 2}, {1, 2, 3, 4});
  ExpectNumbers(Op("transpose").Input(x).Run(), {F32({2, 2}, {1, 3, 2, 4})});
  ExpectNumbers(Op("Flatten").Input(F32({1, 2, 1}, {1, 2})).Run(),
                {F32({1, 2}, {1, 2})});
  ExpectNumbers(Op("slice", {{"begin", "(None, 1)"}, {"end", "(None, 2)"}})
                    .Input(x)
                    .Run(),
                {F32({2, 1}, {2, 4})});
  ExpectNumbers(
      Op("slice", {{"begin", "(1,)"}, {"end", "(None,)"}, {"step", "(-1,)"}})
          .Input(x)
          .Run(),
      {F32({2, 2}, {3, 4, 1, 2})});
  ExpectNumbers(
      Op("slice_axis", {{"axis", "1"}, {"begin", "-1"}, {"end", "None"}})
          .Input(x)
          .Run(),
      {F32({2, 1}, {2, 4})});
  ExpectNumbers(
      Op("SliceChannel", {{"num_outputs", "2"}, {"squeeze_axis", "1"}})
          .Input(x)
          .Results(2)
          .Run(),
      {F32({2}, {1, 3}), F32({2}, {2, 4})});
  ExpectNumbers(Op("Concat", {{"dim", "0"}}).Input(x).Input(x).Run(),
                {F32({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4})});
  ExpectNumbers(Op("tile", {{"reps", "(2, 1)"}}).Input(x).Run(),
                {F32({4, 2}, {1, 2, 3, 4, 1, 2, 3, 4})});
  ExpectNumbers(Op("repeat", {{"repeats", "2"}, {"axis", "1"}}).Input(x).Run(),
                {F32({2, 4}, {1, 1, 2, 2, 3, 3, 4, 4})});
  ExpectNumbers(Op("reverse", {{"axis", "(1,)"}}).Input(x).Run(),
                {F32({2, 2}, {2, 1, 4, 3})});
  ExpectNumbers(Op("Pad", {{"mode", "constant"},
                           {"pad_width", "(0,0,1,0)"},
                           {"constant_value", "9"}})
                    .Input(x)
                    .Run(),
                {F32({2, 3}, {9, 1, 2, 9, 3, 4})});
  ExpectNumbers(Op("UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}})
                    .Input(F32({1, 1, 1, 2}, {1, 2}))
                    .Run(),
                {F32({1, 1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 2})});
  ExpectNumbers(Op("depth_to_space", {{"block_size", "2"}})
                    .Input(F32({1, 4, 1, 1}, {1, 2, 3, 4}))
                    .Run(),
                {F32({1, 1, 2, 2}, {1, 2, 3, 4})});
  ExpectNumbers(Op("space_to_depth", {{"block_size", "2"}})
                    .Input(F32({1, 1, 2, 2}, {1, 2, 3, 4}))
                    .Run(),
                {F32({1, 4, 1, 1}, {1, 2, 3, 4})});
}

TEST(Operators, Reductions) {
  const Numbers x = F32({2, 2}, {1, 5, 3, 4});
  ExpectNumbers(Op("sum", {{"axis", "1"}}).Input(x).Run(), {F32({2}, {6, 7})});
  ExpectNumbers(
      Op("mean", {{"axis", "(0,)"}, {"exclude", "True"}, {"keepdims", "True"}})
          .Input(x)
          .Run(),
      {F32({2, 1}, {3, 3.5})});
  ExpectNumbers(Op("max").Input(x).Run(), {F32({1}, {5})});
  ExpectNumbers(Op("norm").Input(F32({2}, {3, 4})).Run(), {F32({1}, {5})});
  ExpectNumbers(Op("argmax", {{"axis", "1"}}).Input(x).Run(),
                {F32({2}, {1, 1})});
  ExpectNumbers(
      Op("topk", {{"k", "1"}, {"ret_typ", "both"}}).Input(x).Results(2).Run(),
      {F32({2, 1}, {5, 4}), F32({2, 1}, {1, 1})});
}

TEST(Operators, ChoiceByIndex) {
  const Numbers x = F32({2, 2}, {1, 5, 3, 4});
  ExpectNumbers(
      Op("take", {{"mode", "wrap"}}).Input(x).Input(F32({2}, {-1, 2})).Run(),
      {F32({2, 2}, {3, 4, 1, 5})});
  ExpectNumbers(
      Op("pick", {{"axis", "1"}}).Input(x).Input(F32({2}, {0, 1})).Run(),
      {F32({2}, {1, 4})});
  ExpectNumbers(Op("gather_nd").Input(x).Input(F32({2, 1}, {1, 0})).Run(),
                {F32({1}, {3})});
  ExpectNumbers(Op("one_hot", {{"depth", "2"}, {"on_value", "7"}})
                    .Input(F32({1}, {1}))
                    .Run(),
                {F32({1, 2}, {0, 7})});
  ExpectNumbers(Op("where")
                    .Input(F32({2}, {1, 0}))
                    .Input(F32({2}, {1, 2}))
                    .Input(F32({2}, {3, 4}))
                    .Run(),
                {F32({2}, {1, 4})});
}

TEST(Operators, Sequences) {
  // The operand's shape is [steps, batch, 1].
  const Numbers x = F32({2, 2, 1}, {1, 2, 3, 4});
  Op mask("SequenceMask", {{"use_sequence_length", "True"}, {"value", "-1"}});
  mask.Input(x).Input(F32({2}, {1, 2}));
  ExpectNumbers(mask.Run(), {F32({2, 2, 1}, {1, 2, -1, 4})});
  Op reverse("SequenceReverse", {{"use_sequence_length", "True"}});
  reverse.Input(x).Input(F32({2}, {1, 2}));
  ExpectNumbers(reverse.Run(), {F32({2, 2, 1}, {1, 4, 3, 2})});
  ExpectNumbers(Op("SequenceLast").Input(x).Run(), {F32({2, 1}, {3, 4})});
}

}  // namespace
}  // namespace ember::tests
