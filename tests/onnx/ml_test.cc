// The operators of ai.onnx.ml, end to end: a model of one node is imported,
// compiled and run. Expected values are worked out by hand from the
// specification; ml_compare_ort.py compares random models with ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/model_builder.h"
#include "tests/onnx/one_node.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;
using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Strings = std::vector<std::string>;
using Ints = std::vector<int64_t>;
using Floats = std::vector<double>;

template <typename T>
constexpr DType kDType = DType::kF32;
template <>
constexpr DType kDType<double> = DType::kF64;
template <>
constexpr DType kDType<int64_t> = DType::kI64;
template <>
constexpr DType kDType<int32_t> = DType::kI32;
template <>
constexpr DType kDType<int16_t> = DType::kI16;
template <>
constexpr DType kDType<uint8_t> = DType::kU8;

// A model of one node with inputs x0, x1 … and outputs y0, y1 ….
class Node {
 public:
  explicit Node(const std::string& operator_name, int opset = 3,
                int outputs = 1) {
    auto& import = *model_.proto().add_opset_import();
    import.set_domain("ai.onnx.ml");
    import.set_version(opset);
    node_ = &model_.Node(operator_name, {}, {});
    node_->set_domain("ai.onnx.ml");
    for (int i = 0; i < outputs; ++i) {
      node_->add_output("y" + std::to_string(i));
      model_.Output("y" + std::to_string(i));
    }
  }

  template <typename T>
  Node& Input(const std::vector<int64_t>& dims, const std::vector<T>& values) {
    const std::string name = "x" + std::to_string(inputs_.size());
    const DType type = kDType<T>;
    static constexpr std::pair<DType, TensorProto::DataType> kTypes[] = {
        {DType::kF32, TensorProto::FLOAT}, {DType::kF64, TensorProto::DOUBLE},
        {DType::kI64, TensorProto::INT64}, {DType::kI32, TensorProto::INT32},
        {DType::kI16, TensorProto::INT16},
    };
    for (const auto& [own, onnx_type] : kTypes) {
      if (own == type)
        model_.Input(name, {dims.begin(), dims.end()}, onnx_type);
    }
    node_->add_input(name);
    auto tensor = vm::Tensor::Allocate(type, dims);
    EXPECT_TRUE(tensor.ok());
    std::copy(values.begin(), values.end(), static_cast<T*>(tensor->data));
    inputs_.push_back(*std::move(tensor));
    return *this;
  }

  Node& Set(const std::string& name, int64_t value) {
    Add(name, AttributeProto::INT).set_i(value);
    return *this;
  }
  Node& Set(const std::string& name, int value) {
    return Set(name, int64_t{value});
  }
  Node& Set(const std::string& name, double value) {
    Add(name, AttributeProto::FLOAT).set_f(static_cast<float>(value));
    return *this;
  }
  Node& Set(const std::string& name, const char* value) {
    Add(name, AttributeProto::STRING).set_s(value);
    return *this;
  }
  Node& Set(const std::string& name, const Ints& values) {
    AttributeProto& attribute = Add(name, AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
    return *this;
  }
  Node& Set(const std::string& name, const Floats& values) {
    AttributeProto& attribute = Add(name, AttributeProto::FLOATS);
    for (double value : values) attribute.add_floats(static_cast<float>(value));
    return *this;
  }
  Node& Set(const std::string& name, const Strings& values) {
    AttributeProto& attribute = Add(name, AttributeProto::STRINGS);
    for (const std::string& value : values) attribute.add_strings(value);
    return *this;
  }
  template <typename T>
  Node& SetTensor(const std::string& name, TensorProto::DataType type,
                  const std::vector<T>& values) {
    TensorProto& tensor = *Add(name, AttributeProto::TENSOR).mutable_t();
    tensor.set_data_type(type);
    tensor.add_dims(static_cast<int64_t>(values.size()));
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
    return *this;
  }

  StatusOr<std::vector<vm::Tensor>> Run() {
    return RunGraph(model_.Import(), inputs_);
  }

  // The message of the error that there must be.
  std::string Error() {
    const auto results = Run();
    return results.ok() ? "no error" : results.status().ToString();
  }

 private:
  AttributeProto& Add(const std::string& name,
                      AttributeProto::AttributeType type) {
    AttributeProto& attribute = *node_->add_attribute();
    attribute.set_name(name);
    attribute.set_type(type);
    return attribute;
  }

  onnx::ModelBuilder model_;
  onnx::NodeProto* node_;
  std::vector<vm::Tensor> inputs_;
};

template <typename T>
void Expect(Node& node, int output, const std::vector<int64_t>& dims,
            const std::vector<T>& values) {
  const auto results = node.Run();
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const vm::Tensor& result = (*results)[output];
  EXPECT_EQ(result.type, kDType<T>) << result.TypeText();
  EXPECT_EQ(result.dims, dims);
  const auto got = result.elements<T>();
  ASSERT_EQ(got.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(got[i], values[i],
                1e-5 * std::max(1.0, std::abs(1.0 * values[i])))
        << i;
  }
}

// --- trees ---

// A tree of depth 2: x0 `mode` 1 ? (x1 `mode` 2 ? leaf 2 : leaf 3) : leaf 4.
Node TwoLevels(const std::string& operator_name, const std::string& mode,
               const std::string& vote, int outputs) {
  Node node(operator_name, 3, outputs);
  node.Set("nodes_treeids", Ints{7, 7, 7, 7, 7})
      .Set("nodes_nodeids", Ints{0, 1, 2, 3, 4})
      .Set("nodes_featureids", Ints{0, 1, 0, 0, 0})
      .Set("nodes_values", Floats{1, 2, 0, 0, 0})
      .Set("nodes_modes", Strings{mode, mode, "LEAF", "LEAF", "LEAF"})
      .Set("nodes_truenodeids", Ints{1, 2, 0, 0, 0})
      .Set("nodes_falsenodeids", Ints{4, 3, 0, 0, 0})
      .Set(vote + "_treeids", Ints{7, 7, 7})
      .Set(vote + "_nodeids", Ints{2, 3, 4});
  return node;
}

TEST(Trees, ModesOfBranches) {
  const std::pair<const char*, std::vector<float>> kCases[] = {
      // Rows (0, 2) (1, 3) (2, 0) (1, 1)
      {"BRANCH_LEQ", {10, 20, 30, 10}}, {"BRANCH_LT", {20, 30, 30, 30}},
      {"BRANCH_GTE", {30, 10, 20, 20}}, {"BRANCH_GT", {30, 30, 20, 30}},
      {"BRANCH_EQ", {30, 20, 30, 20}},  {"BRANCH_NEQ", {20, 30, 10, 30}},
  };
  for (const auto& [mode, expected] : kCases) {
    SCOPED_TRACE(mode);
    Node node = TwoLevels("TreeEnsembleRegressor", mode, "target", 1);
    node.Set("target_ids", Ints{0, 0, 0})
        .Set("target_weights", Floats{10, 20, 30})
        .Set("n_targets", 1)
        .Input<float>({4, 2}, {0, 2, 1, 3, 2, 0, 1, 1});
    Expect<float>(node, 0, {4, 1}, expected);
  }
}

TEST(Trees, MissingValuesAndMixedModes) {
  // NaN goes where its node says; NEQ holds for it anyway.
  Node node("TreeEnsembleRegressor");
  node.Set("nodes_treeids", Ints{0, 0, 0, 0, 0})
      .Set("nodes_nodeids", Ints{0, 1, 2, 3, 4})
      .Set("nodes_featureids", Ints{0, 1, 0, 0, 0})
      .Set("nodes_values", Floats{1, 2, 0, 0, 0})
      .Set("nodes_modes",
           Strings{"BRANCH_LEQ", "BRANCH_NEQ", "LEAF", "LEAF", "LEAF"})
      .Set("nodes_missing_value_tracks_true", Ints{1, 0, 0, 0, 0})
      .Set("nodes_truenodeids", Ints{1, 2, 0, 0, 0})
      .Set("nodes_falsenodeids", Ints{4, 3, 0, 0, 0})
      .Set("target_treeids", Ints{0, 0, 0})
      .Set("target_nodeids", Ints{2, 3, 4})
      .Set("target_ids", Ints{0, 0, 0})
      .Set("target_weights", Floats{10, 20, 30})
      .Set("n_targets", 1)
      .Input<float>({4, 2}, {kNan, 2, kNan, kNan, 2, kNan, 1, 3});
  Expect<float>(node, 0, {4, 1}, {20, 10, 30, 10});
}

// Two trees that are leaves, with votes for targets 0 and 2 of 3.
Node Leaves(const char* aggregate) {
  Node node("TreeEnsembleRegressor");
  node.Set("nodes_treeids", Ints{0, 1})
      .Set("nodes_nodeids", Ints{0, 0})
      .Set("nodes_featureids", Ints{0, 0})
      .Set("nodes_values", Floats{0, 0})
      .Set("nodes_modes", Strings{"LEAF", "LEAF"})
      .Set("nodes_truenodeids", Ints{0, 0})
      .Set("nodes_falsenodeids", Ints{0, 0})
      .Set("target_treeids", Ints{0, 0, 1})
      .Set("target_nodeids", Ints{0, 0, 0})
      .Set("target_ids", Ints{0, 2, 0})
      .Set("target_weights", Floats{4, -6, 8})
      .Set("n_targets", 3)
      .Set("aggregate_function", aggregate)
      .Input<int64_t>({1, 1}, {0});
  return node;
}

TEST(Trees, Aggregates) {
  const std::pair<const char*, std::vector<float>> kCases[] = {
      {"SUM", {12, 0, -6}},
      {"AVERAGE", {6, 0, -3}},
      {"MIN", {4, 0, -6}},
      {"MAX", {8, 0, -6}},
  };
  for (const auto& [aggregate, expected] : kCases) {
    SCOPED_TRACE(aggregate);
    Node plain = Leaves(aggregate);
    Expect<float>(plain, 0, {1, 3}, expected);
    Node based = Leaves(aggregate);
    based.Set("base_values", Floats{100, 200, 300});
    Expect<float>(based, 0, {1, 3},
                  {expected[0] + 100, 200, expected[2] + 300});
  }
}

TEST(Trees, ThresholdsAndWeightsOfDoubles) {
  // As f32, the threshold would be equal to the value.
  Node node("TreeEnsembleRegressor");
  node.Set("nodes_treeids", Ints{0, 0, 0})
      .Set("nodes_nodeids", Ints{0, 1, 2})
      .Set("nodes_featureids", Ints{0, 0, 0})
      .SetTensor<double>("nodes_values_as_tensor", TensorProto::DOUBLE,
                         {1 + 1e-12, 0, 0})
      .Set("nodes_modes", Strings{"BRANCH_LT", "LEAF", "LEAF"})
      .Set("nodes_truenodeids", Ints{1, 0, 0})
      .Set("nodes_falsenodeids", Ints{2, 0, 0})
      .Set("target_treeids", Ints{0, 0})
      .Set("target_nodeids", Ints{1, 2})
      .Set("target_ids", Ints{0, 0})
      .SetTensor<double>("target_weights_as_tensor", TensorProto::DOUBLE,
                         {5, 6})
      .Set("n_targets", 1)
      .Input<double>({3}, {1, 0, 0});
  Expect<float>(node, 0, {1, 1}, {5});
}

TEST(Trees, ClassifierOfThreeClasses) {
  Node node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
  node.Set("class_ids", Ints{0, 1, 2})
      .Set("class_weights", Floats{1, 2, 3})
      .Set("classlabels_int64s", Ints{-5, 6, 70})
      .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
  Expect<int64_t>(node, 0, {3}, {-5, 6, 70});
  Expect<float>(node, 1, {3, 3}, {1, 0, 0, 0, 2, 0, 0, 0, 3});
}

TEST(Trees, ClassWithoutVotesDoesNotWin) {
  Node node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
  node.Set("class_ids", Ints{0, 1, 2})
      .Set("class_weights", Floats{-1, -2, -3})
      .Set("classlabels_int64s", Ints{0, 1, 2})
      .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
  Expect<int64_t>(node, 0, {3}, {0, 1, 2});
}

TEST(Trees, VotesForTheFirstOfTwoClassesAreTheSecondsScore) {
  const auto make = [](const Floats& weights, const char* transform) {
    Node node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
    node.Set("class_ids", Ints{0, 0, 0})
        .Set("class_weights", weights)
        .Set("post_transform", transform)
        .Set("classlabels_int64s", Ints{8, 9})
        .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
    return node;
  };
  // Positive weights are probabilities.
  Node positive = make({0.25, 0.5, 0.75}, "NONE");
  Expect<int64_t>(positive, 0, {3}, {8, 8, 9});
  Expect<float>(positive, 1, {3, 2}, {0.75, 0.25, 0.5, 0.5, 0.25, 0.75});
  // Others are margins.
  Node margin = make({-1, 0, 2}, "NONE");
  Expect<int64_t>(margin, 0, {3}, {8, 8, 9});
  Expect<float>(margin, 1, {3, 2}, {1, -1, 0, 0, -2, 2});
  Node logistic = make({-std::log(3), 0, std::log(3)}, "LOGISTIC");
  Expect<float>(logistic, 1, {3, 2}, {0.75, 0.25, 0.5, 0.5, 0.25, 0.75});
}

// Opset 5: x0 in {1, 4, 9} ? (x1 < 3 ? 10 : 20) : 30, and a tree that is a
// leaf for target 1.
TEST(Trees, EnsembleWithMembers) {
  Node node("TreeEnsemble", 5);
  node.SetTensor<float>("nodes_splits", TensorProto::FLOAT, {0, 3, 0})
      .SetTensor<uint8_t>("nodes_modes", TensorProto::UINT8, {6, 1, 0})
      .Set("nodes_featureids", Ints{0, 1, 0})
      .Set("nodes_truenodeids", Ints{1, 0, 3})
      .Set("nodes_trueleafs", Ints{0, 1, 1})
      .Set("nodes_falsenodeids", Ints{2, 1, 3})
      .Set("nodes_falseleafs", Ints{1, 1, 1})
      .SetTensor<float>("membership_values", TensorProto::FLOAT,
                        {4, 1, 9, kNan})
      .Set("leaf_targetids", Ints{0, 0, 0, 1})
      .SetTensor<float>("leaf_weights", TensorProto::FLOAT, {10, 20, 30, 0.5})
      .Set("tree_roots", Ints{0, 2})
      .Set("n_targets", 2)
      .Input<float>({6, 2}, {1, 2, 4, 3, 9, 0, 5, 0, 0, 9, kNan, 0});
  Expect<float>(node, 0, {6, 2},
                {10, 0.5, 20, 0.5, 10, 0.5, 30, 0.5, 30, 0.5, 30, 0.5});
}

TEST(Trees, MistakesInAttributes) {
  const auto make = [](const Ints& true_ids, const Ints& features) {
    Node node("TreeEnsembleRegressor");
    node.Set("nodes_treeids", Ints{0, 0, 0, 0})
        .Set("nodes_nodeids", Ints{0, 1, 2, 3})
        .Set("nodes_featureids", features)
        .Set("nodes_values", Floats{0, 0, 0, 0})
        .Set("nodes_modes",
             Strings{"BRANCH_LT", "BRANCH_LT", "BRANCH_LT", "LEAF"})
        .Set("nodes_truenodeids", true_ids)
        .Set("nodes_falsenodeids", Ints{3, 3, 3, 0})
        .Set("n_targets", 1)
        .Input<float>({1, 1}, {0});
    return node;
  };
  EXPECT_THAT(make({1, 2, 1, 0}, {0, 0, 0, 0}).Error(), HasSubstr("cycle"));
  EXPECT_THAT(make({1, 2, 9, 0}, {0, 0, 0, 0}).Error(),
              HasSubstr("tree 0 has no node 9"));
  EXPECT_THAT(make({1, 2, 3, 0}, {0, 0, 1, 0}).Error(),
              HasSubstr("'nodes_featureids': expected values in [0, 1)"));
  EXPECT_THAT(make({1, 2, 3}, {0, 0, 0, 0}).Error(),
              HasSubstr("'nodes_truenodeids': expected 4 elements, found 3"));
}

// --- linear models and support vectors ---

TEST(Linear, RegressorOfTwoTargets) {
  Node node("LinearRegressor");
  node.Set("coefficients", Floats{1, 2, 3, 4})
      .Set("intercepts", Floats{10, 20})
      .Set("targets", 2)
      .Input<int32_t>({2, 2}, {1, 1, 0, 2});
  Expect<float>(node, 0, {2, 2}, {13, 27, 14, 28});
}

TEST(Linear, ClassifierTransformsAfterItChose) {
  Node node("LinearClassifier", 1, 2);
  node.Set("coefficients", Floats{1, 0, 0, 1, 0, 0})
      .Set("intercepts", Floats{0, 0, 1})
      .Set("classlabels_ints", Ints{30, 20, 10})
      .Set("post_transform", "SOFTMAX_ZERO")
      .Input<float>({1, 2}, {2, 0});
  Expect<int64_t>(node, 0, {1}, {30});
  // The zero score takes no part.
  const float e = std::exp(-1.0f);
  Expect<float>(node, 1, {1, 3}, {1 / (1 + e), 0, e / (1 + e)});
}

TEST(Linear, CoefficientsBeyondTheFeaturesAreNotUsed) {
  Node node("LinearClassifier", 1, 2);
  node.Set("coefficients", Floats{1, 10, 100, 1000})
      .Set("intercepts", Floats{0, 0})
      .Set("classlabels_ints", Ints{0, 1})
      .Input<float>({1, 1}, {2});
  Expect<float>(node, 1, {1, 2}, {2, 20});
}

TEST(Linear, OneScoreForTwoClasses) {
  const auto make = [](const char* transform) {
    Node node("LinearClassifier", 1, 2);
    node.Set("coefficients", Floats{1})
        .Set("intercepts", Floats{0})
        .Set("classlabels_ints", Ints{3, 4})
        .Set("post_transform", transform)
        .Input<double>({2, 1}, {std::log(3.0), -1});
    return node;
  };
  Node plain = make("NONE");
  Expect<int64_t>(plain, 0, {2}, {4, 3});
  const auto log3 = static_cast<float>(std::log(3.0));
  Expect<float>(plain, 1, {2, 2}, {1 - log3, log3, 2, -1});
  Node logistic = make("LOGISTIC");
  Expect<float>(logistic, 1, {2, 2}, {0.25, 0.75, 0.7310586f, 0.2689414f});
}

TEST(Linear, Probit) {
  // Φ⁻¹(0.975) = 1.96 within the error of the approximation.
  Node node("LinearRegressor");
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
  // x = (1, 2), vectors (1, 0) and (0, 1), coefficients 1 and 10, rho 0.5.
  const std::pair<const char*, float> kCases[] = {
      {"LINEAR", 21.5f},                   // 1 + 20
      {"POLY", 0.5f + 2.25f + 10 * 4.0f},  // (0.5·1 + 1)², (0.5·2 + 1)²
      {"RBF", 0.5f + std::exp(-2.f) + 10 * std::exp(-1.f)},  // d² = 4, 2
      {"SIGMOID", 0.5f + std::tanh(1.5f) + 10 * std::tanh(2.f)},
  };
  for (const auto& [kernel, expected] : kCases) {
    SCOPED_TRACE(kernel);
    Node node("SVMRegressor");
    node.Set("kernel_type", kernel)
        .Set("kernel_params", Floats{0.5, 1, 2})
        .Set("n_supports", 2)
        .Set("support_vectors", Floats{1, 0, 0, 1})
        .Set("coefficients", Floats{1, 10})
        .Set("rho", Floats{0.5})
        .Input<float>({1, 2}, {1, 2});
    Expect<float>(node, 0, {1, 1}, {expected});
  }
}

TEST(SupportVectors, OneClass) {
  Node node("SVMRegressor");
  node.Set("coefficients", Floats{1})
      .Set("rho", Floats{-2})
      .Set("one_class", 1)
      .Input<float>({3, 1}, {3, 2, 1});
  Expect<float>(node, 0, {3, 1}, {1, -1, -1});
}

// One vector per class, on the axes. Pair (i, j) has k(i) · c[j-1][i] +
// k(j) · c[i][j] + rho.
Node ThreeClasses() {
  Node node("SVMClassifier", 1, 2);
  node.Set("vectors_per_class", Ints{1, 1, 1})
      .Set("support_vectors", Floats{1, 0, 0, 0, 1, 0, 0, 0, 1})
      .Set("coefficients", Floats{1, -1, -2, 3, 4, -4})
      .Set("rho", Floats{0, 0.5, 0})
      .Set("classlabels_ints", Ints{10, 20, 30})
      .Input<float>({2, 3}, {3, 1, 0, 0, 0, 2});
  return node;
}

TEST(SupportVectors, ClassifierVotesOverPairs) {
  Node node = ThreeClasses();
  // Row (3, 1, 0): 0-1: 3·1 - 1 = 2; 0-2: 3·3 - 0 + 0.5 = 9.5; 1-2: 4.
  // Row (0, 0, 2): 0, 0.5 - 4 = -3.5, -8.
  Expect<float>(node, 1, {2, 3}, {2, 9.5, 4, 0, -3.5, -8});
  Expect<int64_t>(node, 0, {2}, {10, 30});
}

TEST(SupportVectors, ProbabilitiesOfTwoClasses) {
  Node node("SVMClassifier", 1, 2);
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
  // Coupling of two classes gives the pair's probabilities, up to the
  // tolerance that the method stops at.
  const auto got = (*results)[1].elements<float>();
  EXPECT_NEAR(got[0], 0.75, 0.005);
  EXPECT_NEAR(got[0] + got[1], 1, 1e-6);
}

TEST(SupportVectors, ProbabilitiesOfThreeClassesMinimiseTheirForm) {
  Node node = ThreeClasses();
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

// --- features ---

TEST(Features, ScalerSubtractsFirst) {
  Node node("Scaler", 1);
  node.Set("offset", Floats{1, 2})
      .Set("scale", Floats{10})
      .Input<int64_t>({2, 2}, {1, 3, 5, 16777217});
  Expect<float>(node, 0, {2, 2}, {0, 10, 40, 167772150.0f});
}

TEST(Features, NormalizerLeavesZeros) {
  const std::pair<const char*, std::vector<float>> kCases[] = {
      {"MAX", {-0.75f, 1, 0, 0}},
      {"L1", {-3.f / 7, 4.f / 7, 0, 0}},
      {"L2", {-0.6f, 0.8f, 0, 0}},
  };
  for (const auto& [norm, expected] : kCases) {
    SCOPED_TRACE(norm);
    Node node("Normalizer", 1);
    node.Set("norm", norm).Input<float>({2, 2}, {-3, 4, 0, 0});
    Expect<float>(node, 0, {2, 2}, expected);
  }
}

TEST(Features, BinarizerIsStrict) {
  Node node("Binarizer", 1);
  node.Set("threshold", 1.5).Input<int32_t>({3}, {1, 2, -7});
  Expect<int32_t>(node, 0, {3}, {0, 1, 0});
}

TEST(Features, ImputerReplacesNanOrNumbers) {
  Node nan("Imputer", 1);
  nan.Set("imputed_value_floats", Floats{7, 8})
      .Set("replaced_value_float", double{kNan})
      .Input<double>({2, 2}, {kNan, 1, 0, kNan});
  Expect<double>(nan, 0, {2, 2}, {7, 1, 0, 8});
  Node integers("Imputer", 1);
  integers.Set("imputed_value_int64s", Ints{9})
      .Set("replaced_value_int64", -1)
      .Input<int32_t>({3}, {-1, 0, 2});
  Expect<int32_t>(integers, 0, {3}, {9, 0, 2});
  Node wrong("Imputer", 1);
  wrong.Set("imputed_value_int64s", Ints{9, 9}).Input<int64_t>({3}, {1, 0, 2});
  EXPECT_THAT(wrong.Error(), HasSubstr("expected 1 or 3 elements, found 2"));
}

TEST(Features, VectorizerCutsAndFills) {
  Node node("FeatureVectorizer", 1);
  node.Set("inputdimensions", Ints{1, 3})
      .Input<float>({2, 2}, {1, 2, 3, 4})
      .Input<int64_t>({2, 2}, {5, 6, 7, 8});
  Expect<float>(node, 0, {2, 4}, {1, 5, 6, 0, 3, 7, 8, 0});
}

TEST(Features, ExtractorTakesTheLastAxis) {
  Node matrix("ArrayFeatureExtractor", 1);
  matrix.Input<float>({2, 3}, {0, 1, 2, 3, 4, 5})
      .Input<int64_t>({1, 2}, {2, 0});
  Expect<float>(matrix, 0, {2, 2}, {2, 0, 5, 3});
  Node vector("ArrayFeatureExtractor", 1);
  vector.Input<int64_t>({3}, {7, 8, 9}).Input<int64_t>({2}, {1, 1});
  Expect<int64_t>(vector, 0, {1, 2}, {8, 8});
}

// --- tables ---

TEST(Tables, OneHotEncoder) {
  Node node("OneHotEncoder", 1);
  node.Set("cats_int64s", Ints{5, -2, 9, 7, 0, 3})
      .Input<float>({3}, {9.75f, 4, -2});
  Expect<float>(node, 0, {3, 6},
                {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0});
  Node strict("OneHotEncoder", 1);
  strict.Set("cats_int64s", Ints{5, 6}).Set("zeros", 0);
  strict.Input<int64_t>({1}, {4});
  EXPECT_THAT(strict.Error(), HasSubstr("outside the extent"));
}

TEST(Tables, LabelEncoderOfManyKeys) {
  // Few, consecutive, and scattered keys.
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
    Node node("LabelEncoder", 4);
    node.Set("keys_int64s", keys)
        .SetTensor<int64_t>("values_tensor", TensorProto::INT64, values)
        .Input<int64_t>({static_cast<int64_t>(x.size())}, x);
    Expect<int64_t>(node, 0, {static_cast<int64_t>(x.size())}, expected);
  }
}

TEST(Tables, LabelEncoderOfFloats) {
  // The last of equal keys counts; NaN is a key.
  Node node("LabelEncoder", 4);
  node.Set("keys_floats", Floats{1, kNan, -0.0, 2.5, 7, 8, 9, 1})
      .Set("values_int64s", Ints{1, 2, 3, 4, 5, 6, 7, 8})
      .Set("default_int64", 77)
      .Input<float>({6}, {1, kNan, 0, 2.5, 10, -5});
  Expect<int64_t>(node, 0, {6}, {8, 2, 3, 4, 77, 77});
}

TEST(Tables, LabelEncoderOfTensors) {
  Node node("LabelEncoder", 4);
  node.SetTensor<int16_t>("keys_tensor", TensorProto::INT16, {-3, 5})
      .SetTensor<double>("values_tensor", TensorProto::DOUBLE, {0.5, 1e300})
      .SetTensor<double>("default_tensor", TensorProto::DOUBLE, {-1})
      .Input<int16_t>({3}, {5, -3, 4});
  Expect<double>(node, 0, {3}, {1e300, 0.5, -1});
}

TEST(Tables, StringsAreNotThereYet) {
  Node node("LabelEncoder", 2);
  node.Set("keys_int64s", Ints{1})
      .Set("values_strings", Strings{"one"})
      .Input<int64_t>({1}, {1});
  EXPECT_THAT(node.Error(), HasSubstr("string values are not supported yet"));
}

TEST(Maps, ZipMapKeepsTheScores) {
  Node node("ZipMap", 1);
  node.Set("classlabels_strings", Strings{"a", "b"})
      .Input<float>({2, 2}, {1, 2, 3, 4});
  Expect<float>(node, 0, {2, 2}, {1, 2, 3, 4});
  Node wrong("ZipMap", 1);
  wrong.Set("classlabels_int64s", Ints{1}).Input<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_THAT(wrong.Error(), HasSubstr("expected 2 class labels, found 1"));
}

}  // namespace
}  // namespace ember::tests
