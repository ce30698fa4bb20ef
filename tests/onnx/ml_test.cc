// Tests the operators of ai.onnx.ml except its tree ensembles, end to end.
// Expected values are worked out by hand from the specification;
// ml_compare_ort.py compares random models with ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/onnx/ml_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// --- linear models and support vectors ---

TEST(Linear, RegressorOfTwoTargets) {
  MlNode node("LinearRegressor");
  node.Set("coefficients", Floats{1, 2, 3, 4})
      .Set("intercepts", Floats{10, 20})
      .Set("targets", 2)
      .Input<int32_t>({2, 2}, {1, 1, 0, 2});
  ExpectResult<float>(node, 0, {2, 2}, {13, 27, 14, 28});
}

TEST(Linear, ClassifierTransformsAfterItChose) {
  MlNode node("LinearClassifier", 1, 2);
  node.Set("coefficients", Floats{1, 0, 0, 1, 0, 0})
      .Set("intercepts", Floats{0, 0, 1})
      .Set("classlabels_ints", Ints{30, 20, 10})
      .Set("post_transform", "SOFTMAX_ZERO")
      .Input<float>({1, 2}, {2, 0});
  ExpectResult<int64_t>(node, 0, {1}, {30});
  // SOFTMAX_ZERO leaves a score of 0 out of the softmax; its result is 0.
  const float e = std::exp(-1.0f);
  ExpectResult<float>(node, 1, {1, 3}, {1 / (1 + e), 0, e / (1 + e)});
}

TEST(Linear, CoefficientsBeyondTheFeaturesAreNotUsed) {
  MlNode node("LinearClassifier", 1, 2);
  node.Set("coefficients", Floats{1, 10, 100, 1000})
      .Set("intercepts", Floats{0, 0})
      .Set("classlabels_ints", Ints{0, 1})
      .Input<float>({1, 1}, {2});
  ExpectResult<float>(node, 1, {1, 2}, {2, 20});
}

TEST(Linear, OneScoreForTwoClasses) {
  const auto make = [](const char* transform) {
    MlNode node("LinearClassifier", 1, 2);
    node.Set("coefficients", Floats{1})
        .Set("intercepts", Floats{0})
        .Set("classlabels_ints", Ints{3, 4})
        .Set("post_transform", transform)
        .Input<double>({2, 1}, {std::log(3.0), -1});
    return node;
  };
  MlNode plain = make("NONE");
  ExpectResult<int64_t>(plain, 0, {2}, {4, 3});
  const auto log3 = static_cast<float>(std::log(3.0));
  ExpectResult<float>(plain, 1, {2, 2}, {1 - log3, log3, 2, -1});
  MlNode logistic = make("LOGISTIC");
  ExpectResult<float>(logistic, 1, {2, 2},
                      {0.25, 0.75, 0.7310586f, 0.2689414f});
}

TEST(Linear, Probit) {
  // PROBIT is the inverse Φ⁻¹ of the normal distribution, which is
  // approximated: Φ⁻¹(0.975) is 1.96.
  MlNode node("LinearRegressor");
  node.Set("coefficients", Floats{1})
      .Set("post_transform", "PROBIT")
      .Input<float>({3, 1}, {0.975f, 0.5f, 0.025f});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const auto got = (*results)[0].elements<float>();
  EXPECT_NEAR(got[0], 1.96, 0.01);
  EXPECT_NEAR(got[1], 0, 1e-6);
  EXPECT_NEAR(got[2], -1.96, 0.01);
}

TEST(SupportVectors, KernelsOfTheRegressor) {
  // All cases have the input x = (1, 2), the support vectors (1, 0) and (0, 1)
  // with the coefficients 1 and 10, and rho 0.5.
  const std::pair<const char*, float> kCases[] = {
      // LINEAR: the products of x with the vectors are 1 and 2, so the result
      // is 1 * 1 + 10 * 2 = 21, plus rho.
      {"LINEAR", 21.5f},
      // POLY: the kernel's values are (0.5·1 + 1)² = 2.25 and (0.5·2 + 1)² = 4.
      {"POLY", 0.5f + 2.25f + 10 * 4.0f},
      // RBF is exp(-0.5 d²), where the squared distances d² of x from the
      // vectors are 4 and 2.
      {"RBF", 0.5f + std::exp(-2.f) + 10 * std::exp(-1.f)},
      {"SIGMOID", 0.5f + std::tanh(1.5f) + 10 * std::tanh(2.f)},
  };
  for (const auto& [kernel, expected] : kCases) {
    SCOPED_TRACE(kernel);
    MlNode node("SVMRegressor");
    node.Set("kernel_type", kernel)
        .Set("kernel_params", Floats{0.5, 1, 2})
        .Set("n_supports", 2)
        .Set("support_vectors", Floats{1, 0, 0, 1})
        .Set("coefficients", Floats{1, 10})
        .Set("rho", Floats{0.5})
        .Input<float>({1, 2}, {1, 2});
    ExpectResult<float>(node, 0, {1, 1}, {expected});
  }
}

TEST(SupportVectors, OneClass) {
  MlNode node("SVMRegressor");
  node.Set("coefficients", Floats{1})
      .Set("rho", Floats{-2})
      .Set("one_class", 1)
      .Input<float>({3, 1}, {3, 2, 1});
  ExpectResult<float>(node, 0, {3, 1}, {1, -1, -1});
}

// Returns a support vector classifier of three classes with one vector each,
// along the axes. The score of the classes i and j is k(i) · c[j-1][i] + k(j) ·
// c[i][j] + rho, where k(i) is the kernel of x and vector i, and c are the
// coefficients.
MlNode ThreeClasses() {
  MlNode node("SVMClassifier", 1, 2);
  node.Set("vectors_per_class", Ints{1, 1, 1})
      .Set("support_vectors", Floats{1, 0, 0, 0, 1, 0, 0, 0, 1})
      .Set("coefficients", Floats{1, -1, -2, 3, 4, -4})
      .Set("rho", Floats{0, 0.5, 0})
      .Set("classlabels_ints", Ints{10, 20, 30})
      .Input<float>({2, 3}, {3, 1, 0, 0, 0, 2});
  return node;
}

TEST(SupportVectors, ClassifierVotesOverPairs) {
  MlNode node = ThreeClasses();
  // The scores of row (3, 1, 0) are, for pair 0-1: 3·1 - 1 = 2; 0-2: 3·3 - 0 +
  // 0.5 = 9.5; 1-2: 4. Those of row (0, 0, 2) are 0, 0.5 - 4 = -3.5 and -8.
  ExpectResult<float>(node, 1, {2, 3}, {2, 9.5, 4, 0, -3.5, -8});
  ExpectResult<int64_t>(node, 0, {2}, {10, 30});
}

TEST(SupportVectors, ProbabilitiesOfTwoClasses) {
  MlNode node("SVMClassifier", 1, 2);
  node.Set("vectors_per_class", Ints{1, 1})
      .Set("support_vectors", Floats{1, 0})
      .Set("coefficients", Floats{1, -1})
      .Set("rho", Floats{0})
      .Set("prob_a", Floats{-1})
      .Set("prob_b", Floats{0})
      .Set("classlabels_ints", Ints{0, 1})
      .Input<float>({1, 1}, {static_cast<float>(std::log(3.0))});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  // If there are two classes, the coupled probabilities equal the probabilities
  // of the only pair, up to the tolerance at which the iteration stops.
  const auto got = (*results)[1].elements<float>();
  EXPECT_NEAR(got[0], 0.75, 0.005);
  EXPECT_NEAR(got[0] + got[1], 1, 1e-6);
}

TEST(SupportVectors, ProbabilitiesOfThreeClassesMinimiseTheirForm) {
  MlNode node = ThreeClasses();
  node.Set("prob_a", Floats{-1, -0.1, -0.2}).Set("prob_b", Floats{0, 0, 0});
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const auto got = (*results)[1].elements<float>();
  const double r01 = 1 / (1 + std::exp(-2.0)), r02 = 1 / (1 + std::exp(-0.95)),
               r12 = 1 / (1 + std::exp(-0.8));
  const auto form = [&](double a, double b, double c) {
    const auto term = [](double r, double p, double q) {
      return std::pow((1 - r) * p - r * q, 2);
    };
    return term(r01, a, b) + term(r02, a, c) + term(r12, b, c);
  };
  EXPECT_NEAR(got[0] + got[1] + got[2], 1, 1e-6);
  double best = 1;
  for (int i = 0; i <= 100; ++i) {
    for (int j = 0; i + j <= 100; ++j)
      best = std::min(best, form(i / 100.0, j / 100.0, (100 - i - j) / 100.0));
  }
  EXPECT_LE(form(got[0], got[1], got[2]), best + 1e-4);
}

TEST(SupportVectors, SizesBeyondTheCoefficients) {
  MlNode node("SVMClassifier", 1, 2);
  node.Set("vectors_per_class", Ints{1, int64_t{1} << 40})
      .Set("coefficients", Floats{1, -1})
      .Set("rho", Floats{0})
      .Set("classlabels_ints", Ints{0, 1})
      .Input<float>({1, 1}, {1});
  EXPECT_THAT(node.Error(), HasSubstr("'vectors_per_class': expected sizes"));
}

// --- features ---

TEST(Features, ScalerSubtractsFirst) {
  MlNode node("Scaler", 1);
  node.Set("offset", Floats{1, 2})
      .Set("scale", Floats{10})
      .Input<int64_t>({2, 2}, {1, 3, 5, 16777217});
  ExpectResult<float>(node, 0, {2, 2}, {0, 10, 40, 167772150.0f});
}

TEST(Features, NormalizerLeavesZeros) {
  const std::pair<const char*, std::vector<float>> kCases[] = {
      {"MAX", {-0.75f, 1, 0, 0}},
      {"L1", {-3.f / 7, 4.f / 7, 0, 0}},
      {"L2", {-0.6f, 0.8f, 0, 0}},
  };
  for (const auto& [norm, expected] : kCases) {
    SCOPED_TRACE(norm);
    MlNode node("Normalizer", 1);
    node.Set("norm", norm).Input<float>({2, 2}, {-3, 4, 0, 0});
    ExpectResult<float>(node, 0, {2, 2}, expected);
  }
}

TEST(Features, BinarizerIsStrict) {
  MlNode node("Binarizer", 1);
  node.Set("threshold", 1.5).Input<int32_t>({3}, {1, 2, -7});
  ExpectResult<int32_t>(node, 0, {3}, {0, 1, 0});
}

TEST(Features, ImputerReplacesNanOrNumbers) {
  MlNode nan("Imputer", 1);
  nan.Set("imputed_value_floats", Floats{7, 8})
      .Set("replaced_value_float", double{kNan})
      .Input<double>({2, 2}, {kNan, 1, 0, kNan});
  ExpectResult<double>(nan, 0, {2, 2}, {7, 1, 0, 8});
  MlNode integers("Imputer", 1);
  integers.Set("imputed_value_int64s", Ints{9})
      .Set("replaced_value_int64", -1)
      .Input<int32_t>({3}, {-1, 0, 2});
  ExpectResult<int32_t>(integers, 0, {3}, {9, 0, 2});
  MlNode wrong("Imputer", 1);
  wrong.Set("imputed_value_int64s", Ints{9, 9}).Input<int64_t>({3}, {1, 0, 2});
  EXPECT_THAT(wrong.Error(), HasSubstr("expected 1 or 3 elements, found 2"));
}

TEST(Features, VectorizerCutsAndFills) {
  MlNode node("FeatureVectorizer", 1);
  node.Set("inputdimensions", Ints{1, 3})
      .Input<float>({2, 2}, {1, 2, 3, 4})
      .Input<int64_t>({2, 2}, {5, 6, 7, 8});
  ExpectResult<float>(node, 0, {2, 4}, {1, 5, 6, 0, 3, 7, 8, 0});
}

TEST(Features, ExtractorTakesTheLastAxis) {
  MlNode matrix("ArrayFeatureExtractor", 1);
  matrix.Input<float>({2, 3}, {0, 1, 2, 3, 4, 5})
      .Input<int64_t>({1, 2}, {2, 0});
  ExpectResult<float>(matrix, 0, {2, 2}, {2, 0, 5, 3});
  MlNode vector("ArrayFeatureExtractor", 1);
  vector.Input<int64_t>({3}, {7, 8, 9}).Input<int64_t>({2}, {1, 1});
  ExpectResult<int64_t>(vector, 0, {1, 2}, {8, 8});
}

// --- tables ---

TEST(Tables, OneHotEncoder) {
  MlNode node("OneHotEncoder", 1);
  node.Set("cats_int64s", Ints{5, -2, 9, 7, 0, 3})
      .Input<float>({3}, {9.75f, 4, -2});
  ExpectResult<float>(node, 0, {3, 6},
                      {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
  MlNode strict("OneHotEncoder", 1);
  strict.Set("cats_int64s", Ints{5, 6}).Set("zeros", 0);
  strict.Input<int64_t>({1}, {4});
  EXPECT_THAT(strict.Error(), HasSubstr("expected index 0 in 0.."));
}

TEST(Tables, LabelEncoderOfManyKeys) {
  // The importer looks up a few keys, consecutive keys, and scattered keys in
  // different ways, so there are sets of each kind.
  for (const Ints& keys :
       {Ints{4, -1, 8}, Ints{3, 4, 5, 6, 7, 8, 9}, Ints{40, -9, 7, 90, 8, 11},
        Ints{INT64_MIN, 7, INT64_MAX, 0, 1, 2, -5, 100, 70}}) {
    Ints values;
    for (size_t i = 0; i < keys.size(); ++i)
      values.push_back(static_cast<int64_t>(i) + 100);
    Ints x = keys, expected = values;
    for (int64_t other : {int64_t{-2}, int64_t{6000}, int64_t{10}}) {
      x.push_back(other);
      expected.push_back(-1);
    }
    MlNode node("LabelEncoder", 4);
    node.Set("keys_int64s", keys)
        .SetTensor<int64_t>("values_tensor", TensorProto::INT64, values)
        .Input<int64_t>({static_cast<int64_t>(x.size())}, x);
    ExpectResult<int64_t>(node, 0, {static_cast<int64_t>(x.size())}, expected);
  }
}

TEST(Tables, LabelEncoderOfFloats) {
  // If keys are equal, the last one counts. NaN is a key that equals NaN.
  MlNode node("LabelEncoder", 4);
  node.Set("keys_floats", Floats{1, kNan, -0.0, 2.5, 7, 8, 9, 1})
      .Set("values_int64s", Ints{1, 2, 3, 4, 5, 6, 7, 8})
      .Set("default_int64", 77)
      .Input<float>({6}, {1, kNan, 0, 2.5, 10, -5});
  ExpectResult<int64_t>(node, 0, {6}, {8, 2, 3, 4, 77, 77});
}

TEST(Tables, LabelEncoderOfTensors) {
  MlNode node("LabelEncoder", 4);
  node.SetTensor<int16_t>("keys_tensor", TensorProto::INT16, {-3, 5})
      .SetTensor<double>("values_tensor", TensorProto::DOUBLE, {0.5, 1e300})
      .SetTensor<double>("default_tensor", TensorProto::DOUBLE, {-1})
      .Input<int16_t>({3}, {5, -3, 4});
  ExpectResult<double>(node, 0, {3}, {1e300, 0.5, -1});
}

}  // namespace
}  // namespace ember::tests
