// Tests the tree ensembles of ai.onnx.ml, end to end. Expected values are
// worked out by hand from the specification; ml_compare_ort.py compares random
// models with ONNX Runtime.
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

// Returns a tree of depth 2: x0 `mode` 1 ? (x1 `mode` 2 ? leaf 2 : leaf 3) :
// leaf 4.
MlNode TwoLevels(const std::string& operator_name, const std::string& mode,
                 const std::string& vote, int outputs) {
  MlNode node(operator_name, 3, outputs);
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
      // Each case has a mode and the results for the rows (0, 2), (1, 3), (2,
      // 0) and (1, 1).
      {"BRANCH_LEQ", {10, 20, 30, 10}}, {"BRANCH_LT", {20, 30, 30, 30}},
      {"BRANCH_GTE", {30, 10, 20, 20}}, {"BRANCH_GT", {30, 30, 20, 30}},
      {"BRANCH_EQ", {30, 20, 30, 20}},  {"BRANCH_NEQ", {20, 30, 10, 30}},
  };
  for (const auto& [mode, expected] : kCases) {
    SCOPED_TRACE(mode);
    MlNode node = TwoLevels("TreeEnsembleRegressor", mode, "target", 1);
    node.Set("target_ids", Ints{0, 0, 0})
        .Set("target_weights", Floats{10, 20, 30})
        .Set("n_targets", 1)
        .Input<float>({4, 2}, {0, 2, 1, 3, 2, 0, 1, 1});
    ExpectResult<float>(node, 0, {4, 1}, expected);
  }
}

TEST(Trees, MissingValuesAndMixedModes) {
  // For a missing value (NaN) the node's own flag decides the branch.
  // BRANCH_NEQ is true for NaN.
  MlNode node("TreeEnsembleRegressor");
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
  ExpectResult<float>(node, 0, {4, 1}, {20, 10, 30, 10});
}

// Returns an ensemble of two trees that consist of one leaf each. The leaves
// vote for the targets 0 and 2 of three targets.
MlNode Leaves(const char* aggregate) {
  MlNode node("TreeEnsembleRegressor");
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
    MlNode plain = Leaves(aggregate);
    ExpectResult<float>(plain, 0, {1, 3}, expected);
    MlNode based = Leaves(aggregate);
    based.Set("base_values", Floats{100, 200, 300});
    ExpectResult<float>(based, 0, {1, 3},
                        {expected[0] + 100, 200, expected[2] + 300});
  }
}

TEST(Trees, ThresholdsAndWeightsOfDoubles) {
  // The tree's threshold needs f64: rounded to f32 it would equal the input
  // value, and the other branch would be taken.
  MlNode node("TreeEnsembleRegressor");
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
  ExpectResult<float>(node, 0, {1, 1}, {5});
}

TEST(Trees, ClassifierOfThreeClasses) {
  MlNode node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
  node.Set("class_ids", Ints{0, 1, 2})
      .Set("class_weights", Floats{1, 2, 3})
      .Set("classlabels_int64s", Ints{-5, 6, 70})
      .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
  ExpectResult<int64_t>(node, 0, {3}, {-5, 6, 70});
  ExpectResult<float>(node, 1, {3, 3}, {1, 0, 0, 0, 2, 0, 0, 0, 3});
}

TEST(Trees, ClassWithoutVotesDoesNotWin) {
  MlNode node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
  node.Set("class_ids", Ints{0, 1, 2})
      .Set("class_weights", Floats{-1, -2, -3})
      .Set("classlabels_int64s", Ints{0, 1, 2})
      .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
  ExpectResult<int64_t>(node, 0, {3}, {0, 1, 2});
}

TEST(Trees, VotesForTheFirstOfTwoClassesAreTheSecondsScore) {
  const auto make = [](const Floats& weights, const char* transform) {
    MlNode node = TwoLevels("TreeEnsembleClassifier", "BRANCH_LEQ", "class", 2);
    node.Set("class_ids", Ints{0, 0, 0})
        .Set("class_weights", weights)
        .Set("post_transform", transform)
        .Set("classlabels_int64s", Ints{8, 9})
        .Input<float>({3, 2}, {0, 2, 1, 3, 2, 0});
    return node;
  };
  // The weights of the first classifier are all positive. Its scores are then
  // probabilities: s and 1 - s.
  MlNode positive = make({0.25, 0.5, 0.75}, "NONE");
  ExpectResult<int64_t>(positive, 0, {3}, {8, 8, 9});
  ExpectResult<float>(positive, 1, {3, 2}, {0.75, 0.25, 0.5, 0.5, 0.25, 0.75});
  // A weight of the second classifier is not positive. Its scores are then
  // margins: s and -s, and the sign decides the class.
  MlNode margin = make({-1, 0, 2}, "NONE");
  ExpectResult<int64_t>(margin, 0, {3}, {8, 8, 9});
  ExpectResult<float>(margin, 1, {3, 2}, {1, -1, 0, 0, -2, 2});
  MlNode logistic = make({-std::log(3), 0, std::log(3)}, "LOGISTIC");
  ExpectResult<float>(logistic, 1, {3, 2}, {0.75, 0.25, 0.5, 0.5, 0.25, 0.75});
}

// The tree of opset 5 is x0 in {1, 4, 9} ? (x1 < 3 ? 10 : 20) : 30. A second
// tree is a leaf for target 1.
TEST(Trees, EnsembleWithMembers) {
  MlNode node("TreeEnsemble", 5);
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
  ExpectResult<float>(node, 0, {6, 2},
                      {10, 0.5, 20, 0.5, 10, 0.5, 30, 0.5, 30, 0.5, 30, 0.5});
}

TEST(Trees, MistakesInAttributes) {
  const auto make = [](const Ints& true_ids, const Ints& features) {
    MlNode node("TreeEnsembleRegressor");
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

TEST(Trees, AbsurdNumberOfTargets) {
  MlNode node("TreeEnsembleRegressor");
  node.Set("n_targets", int64_t{1} << 62).Input<float>({1, 1}, {0});
  EXPECT_THAT(node.Error(), HasSubstr("'n_targets': expected 1 to 1048576"));
}

}  // namespace
}  // namespace ember::tests
