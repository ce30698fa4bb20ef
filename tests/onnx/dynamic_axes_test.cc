// Tests axes, steps and sizes that are inputs of the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

Numbers Six() { return F32({2, 1, 3}, {1, 2, 3, 4, 5, 6}); }

StatusOr<std::vector<Numbers>> Reduce(const std::string& name,
                                      const Numbers& axes, int keep) {
  OneNode node(name, 18);
  node.Input(Six(), {-1, 1, 3}).Input(axes);
  node.Attribute({"keepdims", keep});
  return node.Run();
}

TEST(DynamicAxes, OfReductions) {
  ExpectNumbers(Reduce("ReduceSum", I64({1}, {0}), 1),
                {F32({1, 1, 3}, {5, 7, 9})});
  ExpectNumbers(Reduce("ReduceSum", I64({1}, {-1}), 1),
                {F32({2, 1, 1}, {6, 15})});
  ExpectNumbers(Reduce("ReduceMax", I64({2}, {2, 0}), 0), {F32({1}, {6})});
  ExpectNumbers(Reduce("ReduceMean", I64({2}, {0, 1}), 0),
                {F32({3}, {2.5, 3.5, 4.5})});
  ExpectNumbers(Reduce("ReduceLogSumExp", I64({1}, {1}), 0),
                {F32({2, 3}, {1, 2, 3, 4, 5, 6})});
  ExpectNumbers(Reduce("ReduceL2", I64({3}, {0, 1, 2}), 1),
                {F32({1, 1, 1}, {std::sqrt(91.0)})});
  ExpectNumbers(Reduce("ReduceProd", I64({0}, {}), 0), {F32({}, {720})});
}

TEST(DynamicAxes, ThatAreNoneAreAnError) {
  for (const Values& axes : {Values{0, 3}, Values{1, 1}, Values{-4, 0}}) {
    const auto results = Reduce("ReduceSum", I64({2}, axes), 1);
    ASSERT_FALSE(results.ok());
    EXPECT_THAT(std::string(results.status().message()),
                HasSubstr("expected different ones from -3 to 2"));
  }
}

TEST(DynamicAxes, OfSqueezeAndUnsqueeze) {
  OneNode squeeze("Squeeze", 13);
  squeeze.Input(F32({1, 2, 1}, {1, 2}), {-2, -2, -2}).Input(I64({1}, {-1}));
  ExpectNumbers(squeeze.Run(), {F32({1, 2}, {1, 2})});
  OneNode both("Squeeze", 13);
  both.Input(F32({1, 2, 1}, {1, 2}), {-2, -2, -2}).Input(I64({2}, {2, 0}));
  ExpectNumbers(both.Run(), {F32({2}, {1, 2})});
  OneNode wrong("Squeeze", 13);
  wrong.Input(F32({1, 2, 1}, {1, 2}), {-2, -2, -2}).Input(I64({1}, {1}));
  EXPECT_FALSE(wrong.Run().ok());
  OneNode unsqueeze("Unsqueeze", 13);
  unsqueeze.Input(F32({2, 3}, {1, 2, 3, 4, 5, 6})).Input(I64({2}, {-1, 1}));
  ExpectNumbers(unsqueeze.Run(), {F32({2, 1, 3, 1}, {1, 2, 3, 4, 5, 6})});
}

TEST(DynamicAxes, OfRunningSums) {
  for (const double axis : {0.0, 1.0, -1.0}) {
    OneNode sums("CumSum", 14);
    sums.Input(F32({2, 3}, {1, 2, 3, 4, 5, 6}), {-1, -1});
    sums.Input(I64({}, {axis}));
    ExpectNumbers(sums.Run(),
                  {F32({2, 3}, axis == 0 ? Values{1, 2, 3, 5, 7, 9}
                                         : Values{1, 3, 6, 4, 9, 15})});
  }
  OneNode products("CumProd", 1);
  products.Input(F32({2, 2}, {1, 2, 3, 4})).Input(I64({1}, {0}));
  products.Attribute({"exclusive", 1});
  ExpectNumbers(products.Run(), {F32({2, 2}, {1, 1, 1, 2})});
}

TEST(DynamicAxes, OfTransforms) {
  for (const double axis : {0.0, 1.0, -2.0}) {
    OneNode node("DFT", 20);
    node.Input(F32({2, 2, 1}, {1, 3, 5, 9})).Absent();
    node.Input(I64({}, {axis}));
    ExpectNumbers(
        node.Run(),
        {F32({2, 2, 2}, axis == 0 ? Values{6, 0, 12, 0, -4, 0, -6, 0}
                                  : Values{4, 0, -2, 0, 14, 0, -4, 0})});
  }
  OneNode half("DFT", 20);
  half.Input(F32({4, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8})).Absent();
  half.Input(I64({}, {0})).Attribute({"onesided", 1});
  ExpectNumbers(half.Run(), {F32({3, 2, 2}, {16, 0, 20, 0, -4, 4, -4, 4,  //
                                             -4, 0, -4, 0})});
}

TEST(DynamicAxes, OfSlices) {
  const auto slice = [](const Numbers& starts, const Numbers& ends,
                        const Numbers& axes, const Numbers& steps) {
    OneNode node("Slice", 13);
    node.Input(F32({2, 3}, {1, 2, 3, 4, 5, 6}), {-1, -1});
    node.Input(starts).Input(ends).Input(axes).Input(steps);
    return node.Run();
  };
  ExpectNumbers(
      slice(I64({1}, {1}), I64({1}, {9}), I64({1}, {1}), I64({1}, {1})),
      {F32({2, 2}, {2, 3, 5, 6})});
  ExpectNumbers(
      slice(I64({1}, {-1}), I64({1}, {-9}), I64({1}, {-1}), I64({1}, {-2})),
      {F32({2, 2}, {3, 1, 6, 4})});
  ExpectNumbers(slice(I64({2}, {0, 1}), I64({2}, {3, 2}), I64({2}, {1, 0}),
                      I64({2}, {2, 1})),
                {F32({1, 2}, {4, 6})});
  ExpectNumbers(
      slice(I64({1}, {2}), I64({1}, {1}), I64({1}, {1}), I64({1}, {1})),
      {F32({2, 0}, {})});
  EXPECT_FALSE(
      slice(I64({1}, {0}), I64({1}, {1}), I64({1}, {1}), I64({1}, {0})).ok());
}

TEST(DynamicSizes, OfUpsample) {
  OneNode node("Upsample", 9);
  node.Input(F32({1, 1, 1, 2}, {1, 2}), {-1, -1, -1, -1});
  node.Input(F32({4}, {1, 1, 2, 3}), {-2});
  ExpectNumbers(node.Run(), {F32({1, 1, 2, 6}, {1, 1, 1, 2, 2, 2,  //
                                                1, 1, 1, 2, 2, 2})});
}

// The window of the filter is as wide as the data decides. With one scale it is
// computed by the program, with the other while compiling.
TEST(DynamicSizes, OfAntialiasing) {
  const auto resize = [](bool scales, bool is_known, const Numbers& values) {
    OneNode node("Resize", 18);
    node.Input(F32({4}, {1, 2, 3, 4}), {is_known ? 4 : -1}).Absent();
    if (!scales) node.Absent();
    is_known ? node.Constant(values) : node.Input(values);
    node.Attribute({"mode", "linear"}).Attribute({"antialias", 1});
    node.Attribute({"exclude_outside", 1});
    return node.Run();
  };
  for (const bool is_known : {true, false}) {
    const Numbers half = F32({2}, {12.0 / 7, 23.0 / 7});
    ExpectNumbers(resize(false, is_known, I64({1}, {2})), {half}, 1e-6);
    ExpectNumbers(resize(true, is_known, F32({1}, {0.5})), {half}, 1e-6);
    // A filter that enlarges reaches no further than without antialiasing.
    ExpectNumbers(resize(false, is_known, I64({1}, {8})),
                  {F32({8}, {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4})}, 1e-6);
  }
}

// Images of bytes are rounded as with known sizes.
TEST(DynamicSizes, OfAntialiasedBytes) {
  Numbers bytes{DType::kU8, {2, 9}, {}};
  for (int i = 0; i < 18; ++i) bytes.values.push_back((i * 89) % 256);
  std::vector<Numbers> results;
  for (const bool is_known : {true, false}) {
    OneNode node("Resize", 18);
    node.Input(bytes).Absent().Absent();
    const Numbers sizes = I64({2}, {2, 4});
    is_known ? node.Constant(sizes) : node.Input(sizes);
    node.Attribute({"mode", "cubic"}).Attribute({"antialias", 1});
    const StatusOr<std::vector<Numbers>> result = node.Run();
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    results.push_back(result->front());
  }
  EXPECT_EQ(results[0].values, results[1].values);
}

// Negative pads crop. Only what remains is repeated.
TEST(DynamicSizes, OfPads) {
  const auto pad = [](const char* mode, double low, double high) {
    OneNode node("Pad", 18);
    node.Input(F32({4}, {1, 2, 3, 4}), {-1}).Input(I64({2}, {low, high}));
    node.Attribute({"mode", mode});
    return node.Run();
  };
  ExpectNumbers(pad("edge", -1, 2), {F32({5}, {2, 3, 4, 4, 4})});
  ExpectNumbers(pad("reflect", 2, -1), {F32({5}, {3, 2, 1, 2, 3})});
  ExpectNumbers(pad("edge", -1, -2), {F32({1}, {2})});
  ExpectNumbers(pad("edge", 1, 0), {F32({5}, {1, 1, 2, 3, 4})});
  EXPECT_FALSE(pad("edge", -3, -2).ok());
}

TEST(DynamicSizes, OfFrames) {
  for (const double length : {2.0, 4.0}) {
    OneNode node("STFT", 17);
    node.Input(F32({1, 4, 1}, {1, 2, 3, 4})).Input(I64({}, {2})).Absent();
    node.Input(I64({}, {length}));
    ExpectNumbers(node.Run(),
                  {length == 2 ? F32({1, 2, 2, 2}, {3, 0, -1, 0, 7, 0, -1, 0})
                               : F32({1, 1, 3, 2}, {10, 0, -2, 2, -2, 0})});
  }
  OneNode none("STFT", 17);
  none.Input(F32({1, 4, 1}, {1, 2, 3, 4})).Input(I64({}, {0})).Absent();
  none.Input(I64({}, {2}));
  EXPECT_FALSE(none.Run().ok());
}

TEST(DynamicSizes, OfMelWeights) {
  const auto run = [](bool known) {
    OneNode node("MelWeightMatrix", 17);
    for (const Numbers& value : {I64({}, {8}), I64({}, {16}), I64({}, {8192}),
                                 F32({}, {0}), F32({}, {4096})}) {
      if (known)
        node.Constant(value);
      else
        node.Input(value);
    }
    return node.Run();
  };
  const auto known = run(true);
  ASSERT_TRUE(known.ok()) << known.status().ToString();
  ASSERT_EQ((*known)[0].dims, (std::vector<int64_t>{9, 8}));
  ExpectNumbers(run(false), *known);
}

}  // namespace
}  // namespace ember::tests
