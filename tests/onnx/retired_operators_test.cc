// Tests operators of ai.onnx that were experimental and withdrawn, and first
// versions of others. Expected values are worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;
using Integers = std::vector<int64_t>;
using Values = std::vector<double>;

TEST(Retired, ImageScaler) {
  OneNode node("ImageScaler", 7);
  // The number of channels is open in the input's shape. It follows from the
  // number of biases.
  node.Input(F32({1, 2, 1, 2}, {1, 2, 3, 4}), {1, -1, 1, 2});
  node.Attribute({"scale", 0.5});
  node.Attribute({"bias", Values{10, -1}});
  ExpectNumbers(node.Run(), {F32({1, 2, 1, 2}, {10.5, 11, 0.5, 1})});
}

TEST(Retired, ImageScalerWantsABiasForEachChannel) {
  OneNode node("ImageScaler", 7);
  node.Input(F32({1, 2, 1, 1}, {1, 2}));
  node.Attribute({"bias", Values{1, 2, 3}});
  EXPECT_THAT(node.Run().status().ToString(),
              HasSubstr("attribute 'bias': expected one number for each of 2 "
                        "channels, found 3"));
}

TEST(Retired, ElementwiseFunctions) {
  OneNode affine("Affine", 7);
  affine.Input(F32({2}, {1, -2}));
  affine.Attribute({"alpha", 3.0}).Attribute({"beta", 0.5});
  ExpectNumbers(affine.Run(), {F32({2}, {3.5, -5.5})});

  OneNode scale("Scale", 7);
  scale.Input(F32({2}, {1, -2})).Attribute({"scale", 4.0});
  ExpectNumbers(scale.Run(), {F32({2}, {4, -8})});

  OneNode tanh("ScaledTanh", 7);
  tanh.Input(F32({2}, {1, -2}));
  tanh.Attribute({"alpha", 2.0}).Attribute({"beta", 0.5});
  ExpectNumbers(tanh.Run(),
                {F32({2}, {2 * std::tanh(0.5), -2 * std::tanh(1.0)})});

  OneNode softplus("ParametricSoftplus", 7);
  softplus.Input(F32({2}, {0, 100}));
  softplus.Attribute({"alpha", 2.0}).Attribute({"beta", 3.0});
  ExpectNumbers(softplus.Run(), {F32({2}, {2 * std::log(2.0), 600})});

  OneNode relu("ThresholdedRelu", 7);
  relu.Input(F32({3}, {1, 2.5, 3})).Attribute({"alpha", 2.5});
  ExpectNumbers(relu.Run(), {F32({3}, {0, 0, 3})});
}

TEST(Retired, AttributesWithoutDefaultsAreAskedFor) {
  OneNode tanh("ScaledTanh", 7);
  tanh.Input(F32({2}, {1, -2})).Attribute({"alpha", 2.0});
  EXPECT_THAT(tanh.Run().status().ToString(),
              HasSubstr("expected attribute 'beta', found none"));
}

TEST(Retired, Crop) {
  Values image(12);
  for (int i = 0; i < 12; ++i) image[i] = i;
  OneNode border("Crop", 7);
  border.Input(F32({1, 1, 3, 4}, image), {1, 1, -1, -1});
  border.Attribute({"border", Integers{1, 0, 2, 1}});
  ExpectNumbers(border.Run(), {F32({1, 1, 2, 1}, {1, 5})});

  OneNode sized("Crop", 7);
  sized.Input(F32({1, 1, 3, 4}, image));
  sized.Attribute({"border", Integers{1, 1, 0, 0}});
  sized.Attribute({"scale", Integers{2, 2}});
  ExpectNumbers(sized.Run(), {F32({1, 1, 2, 2}, {5, 6, 9, 10})});

  OneNode outside("Crop", 7);
  outside.Input(F32({1, 1, 3, 4}, image));
  outside.Attribute({"border", Integers{1, 2, 0, 0}});
  outside.Attribute({"scale", Integers{2, 2}});
  EXPECT_THAT(outside.Run().status().ToString(),
              HasSubstr("expected a part of axis 2 of size 3, found 2 to 4"));
}

TEST(Retired, Fills) {
  OneNode constant("ConstantFill", 7);
  constant.Input(F32({2}, {0, 0}), {-1});
  constant.Attribute({"value", 7.0}).Attribute({"dtype", 7});
  constant.Attribute({"extra_shape", Integers{1}});
  ExpectNumbers(constant.Run(), {I64({2, 1}, {7, 7})});

  OneNode from_input("ConstantFill", 7);
  from_input.Input(I64({2}, {1, 2}));
  from_input.Attribute({"input_as_shape", 1});
  ExpectNumbers(from_input.Run(), {F32({1, 2}, {0, 0})});

  OneNode given("GivenTensorFill", 7);
  given.Attribute({"values", Values{1, 2.5}});
  given.Attribute({"shape", Integers{2, 1}});
  ExpectNumbers(given.Run(), {F32({2, 1}, {1, 2.5})});

  OneNode few("GivenTensorFill", 7);
  few.Attribute({"values", Values{1, 2.5}});
  few.Attribute({"shape", Integers{3}});
  EXPECT_THAT(few.Run().status().ToString(),
              HasSubstr("attribute 'values': expected 3 numbers, found 2"));
}

TEST(Retired, DynamicSlice) {
  OneNode node("DynamicSlice", 7);
  node.Input(F32({2, 3}, {1, 2, 3, 4, 5, 6}));
  node.Constant(I64({1}, {1})).Constant(I64({1}, {3}));
  node.Constant(I64({1}, {1}));
  ExpectNumbers(node.Run(), {F32({2, 2}, {2, 3, 5, 6})});
}

TEST(FirstForms, UpsampleOfHeightAndWidth) {
  OneNode node("Upsample", 1);
  node.Input(F32({1, 1, 1, 2}, {1, 2}));
  node.Attribute({"height_scale", 2.0}).Attribute({"width_scale", 1.5});
  // Result column j reads the input's column floor(j / 1.5), for j = 0, 1, 2.
  ExpectNumbers(node.Run(), {F32({1, 1, 2, 3}, {1, 1, 2, 1, 1, 2})});
}

TEST(FirstForms, MeanVarianceNormalization) {
  OneNode node("MeanVarianceNormalization", 1);
  node.Input(F32({1, 2, 1, 2}, {1, 3, 10, 10}));
  node.Attribute({"normalize_variance", 0});
  ExpectNumbers(node.Run(), {F32({1, 2, 1, 2}, {-1, 1, 0, 0})});
  // The mean is 2 and the variance 1.
  OneNode across("MeanVarianceNormalization", 1);
  across.Input(F32({1, 2, 1, 2}, {1, 3, 1, 3}));
  across.Attribute({"across_channels", 1});
  ExpectNumbers(across.Run(), {F32({1, 2, 1, 2}, {-1, 1, -1, 1})});
}

}  // namespace
}  // namespace ember::tests
