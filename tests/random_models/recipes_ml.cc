// Recipes of ai.onnx.ml: tables and trees.
#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::TensorProto;

constexpr char kMl[] = "ai.onnx.ml";

void SetStrings(onnx::NodeProto& node, const char* name,
                const std::vector<std::string>& strings) {
  AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::STRINGS);
  for (const std::string& text : strings) attribute.add_strings(text);
}

std::vector<double> Reals(Builder& b, int64_t count, double low = -1,
                          double high = 1) {
  std::vector<double> reals;
  for (int64_t i = 0; i < count; ++i)
    reals.push_back(b.random().Real(low, high));
  return reals;
}

Value Features(Builder& b, std::string_view letters = "ffdil") {
  return b.Operand(b.Type(letters),
                   {b.random().Between(1, 6), b.random().Between(1, 5)});
}

std::string Transform(Builder& b, bool has_probit = false) {
  return b.random().Pick(
      has_probit ? std::vector<std::string>{"NONE", "LOGISTIC", "SOFTMAX",
                                            "SOFTMAX_ZERO"}
                 : std::vector<std::string>{"NONE", "LOGISTIC", "SOFTMAX",
                                            "SOFTMAX_ZERO"});
}

bool Linear(Builder& b, const Recipe& recipe) {
  const Value x = Features(b, recipe.name == "LinearRegressor" ? "f" : "ffdil");
  const int64_t n =
      b.random().Between(recipe.name == "LinearRegressor" ? 1 : 2, 4);
  if (recipe.name == "LinearRegressor") {
    b.Node("LinearRegressor", {x.name},
           {{"coefficients", Reals(b, n * x.dims()[1])},
            {"intercepts", Reals(b, n)},
            {"targets", static_cast<int>(n)}},
           kMl);
    return true;
  }
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < n; ++i) labels.push_back(i * 3 - 1);
  b.Nodes("LinearClassifier", {x.name}, 2,
          {{"coefficients", Reals(b, n * x.dims()[1])},
           {"intercepts", Reals(b, n)},
           {"classlabels_ints", labels},
           {"post_transform", Transform(b).c_str()}},
          kMl);
  return true;
}

bool LabelEncoder(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(TensorProto::INT64,
                            b.Shape(b.random().Between(1, 2)), {0, 5, false});
  b.Node("LabelEncoder", {x.name},
         {{"keys_int64s", std::vector<int64_t>{0, 1, 3, 4}},
          {"values_floats", Reals(b, 4)},
          {"default_float", -2.5}},
         kMl);
  return true;
}

bool CategoryMapper(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(TensorProto::STRING, {b.random().Between(1, 6)});
  b.Node(
      "CategoryMapper", {x.name},
      {{"cats_int64s", std::vector<int64_t>{5, 6, 7}}, {"default_int64", -1}},
      kMl);
  SetStrings(b.last(), "cats_strings", {"a", "ab", "x y z"});
  return true;
}

// Random trees of depth 1 to 3 with nodes of all comparison modes. On request
// some nodes decide what a missing value does.
struct Trees {
  Attributes attributes;
  std::vector<std::string> modes;
};

Trees DrawTrees(Builder& b, int64_t features, int64_t targets,
                bool is_classifier) {
  std::vector<int64_t> tree_ids, node_ids, feature_ids, true_ids, false_ids,
      leaf_trees, leaf_nodes, leaf_targets;
  std::vector<double> values, weights;
  Trees trees;
  static const auto* const kModes = new std::vector<std::string>{
      "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"};
  const std::string mode = b.random().Pick(*kModes);
  const bool is_mixed = b.random().Chance(0.2);
  for (int64_t tree = b.random().Between(1, 4) - 1; tree >= 0; --tree) {
    const int64_t depth = b.random().Between(1, 3),
                  inner = (int64_t{1} << depth) - 1, all = 2 * inner + 1;
    for (int64_t node = 0; node < all; ++node) {
      tree_ids.push_back(tree);
      node_ids.push_back(node);
      const bool is_leaf = node >= inner;
      trees.modes.push_back(is_leaf    ? "LEAF"
                            : is_mixed ? b.random().Pick(*kModes)
                                       : mode);
      feature_ids.push_back(is_leaf ? 0 : b.random().Between(0, features - 1));
      values.push_back(is_leaf ? 0 : b.random().Real(-2, 3));
      true_ids.push_back(is_leaf ? 0 : 2 * node + 1);
      false_ids.push_back(is_leaf ? 0 : 2 * node + 2);
      if (!is_leaf) continue;
      leaf_trees.push_back(tree);
      leaf_nodes.push_back(node);
      leaf_targets.push_back(b.random().Between(0, targets - 1));
      weights.push_back(b.random().Real(-1, 1));
    }
  }
  const std::string prefix = is_classifier ? "class" : "target";
  trees.attributes = {
      {"nodes_treeids", tree_ids},       {"nodes_nodeids", node_ids},
      {"nodes_featureids", feature_ids}, {"nodes_values", values},
      {"nodes_truenodeids", true_ids},   {"nodes_falsenodeids", false_ids},
      {prefix + "_treeids", leaf_trees}, {prefix + "_nodeids", leaf_nodes},
      {prefix + "_ids", leaf_targets},   {prefix + "_weights", weights}};
  return trees;
}

bool TreeEnsembles(Builder& b, const Recipe& recipe) {
  const Value x = Features(b, "ffdil");
  const bool is_classifier = recipe.name == "TreeEnsembleClassifier";
  // Classifiers have at least three classes, because for two ONNX Runtime
  // decides by the sign of the second score alone. With minima there is one
  // target only, because ONNX Runtime has its own result for a target without a
  // vote. ONNX defines neither; tests/onnx/ml_trees_test has tests of both.
  const std::string transform = Transform(b);
  const bool is_sum = is_classifier || b.random().Chance(0.6);
  const int64_t targets = is_classifier ? b.random().Between(3, 4)
                          : is_sum && transform == "NONE"
                              ? b.random().Between(1, 4)
                              : 1;
  Trees trees = DrawTrees(b, x.dims()[1], targets, is_classifier);
  Attributes& attributes = trees.attributes;
  // base_values are drawn only for classifiers and for a single target: ONNX
  // Runtime drops the base value of a target to which no leaf adds.
  if ((is_classifier || targets == 1) && b.random().Chance(0.4))
    attributes.emplace_back("base_values", Reals(b, targets));
  attributes.emplace_back("post_transform", transform.c_str());
  if (is_classifier) {
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < targets; ++i) labels.push_back(i + 1);
    attributes.emplace_back("classlabels_int64s", labels);
  } else {
    attributes.emplace_back("n_targets", static_cast<int>(targets));
    static const auto* const kSums =
        new std::vector<std::string>{"SUM", "AVERAGE"};
    static const auto* const kExtremes =
        new std::vector<std::string>{"MIN", "MAX"};
    attributes.emplace_back(
        "aggregate_function",
        b.random().Pick(is_sum ? *kSums : *kExtremes).c_str());
  }
  b.Nodes(std::string(recipe.name), {x.name}, is_classifier ? 2 : 1, attributes,
          kMl);
  SetStrings(b.last(), "nodes_modes", trees.modes);
  return true;
}

bool Svm(Builder& b, const Recipe& recipe) {
  const Value x = Features(b, "f");
  const int64_t features = x.dims()[1], vectors = b.random().Between(2, 5);
  static const auto* const kKernels =
      new std::vector<std::string>{"LINEAR", "POLY", "RBF", "SIGMOID"};
  Attributes attributes = {{"kernel_type", b.random().Pick(*kKernels).c_str()},
                           {"kernel_params", std::vector<double>{0.5, 0.1, 2}},
                           {"support_vectors", Reals(b, vectors * features)}};
  if (recipe.name == "SVMRegressor") {
    attributes.emplace_back("coefficients", Reals(b, vectors));
    attributes.emplace_back("n_supports", static_cast<int>(vectors));
    attributes.emplace_back("rho", Reals(b, 1));
    b.Node("SVMRegressor", {x.name}, attributes, kMl);
    return true;
  }
  attributes.emplace_back("coefficients", Reals(b, vectors));
  attributes.emplace_back("vectors_per_class",
                          std::vector<int64_t>{1, vectors - 1});
  attributes.emplace_back("rho", Reals(b, 1));
  attributes.emplace_back("classlabels_ints", std::vector<int64_t>{0, 1});
  b.Nodes("SVMClassifier", {x.name}, 2, attributes, kMl);
  return true;
}

bool FeatureVectorizer(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 4);
  Names inputs;
  std::vector<int64_t> sizes;
  for (int64_t i = b.random().Between(1, 3); i > 0; --i) {
    sizes.push_back(b.random().Between(1, 4));
    inputs.push_back(b.Operand(TensorProto::FLOAT, {n, sizes.back()}).name);
  }
  b.Node("FeatureVectorizer", inputs, {{"inputdimensions", sizes}}, kMl);
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {kMl, "Binarizer", "f", "T[*] threshold=0.1..0.5"},
    {kMl, "CategoryMapper", CategoryMapper},
    {kMl, "FeatureVectorizer", FeatureVectorizer},
    {kMl, "Imputer", "f",
     "T[n,m] imputed_value_floats=1.5, replaced_value_float=0.25"},
    {kMl, "LabelEncoder", LabelEncoder},
    {kMl, "LinearClassifier", Linear},
    {kMl, "LinearRegressor", Linear},
    {kMl, "Normalizer", "fdil", "T[n,m] norm:L1|L2|MAX"},
    {kMl, "OneHotEncoder", "l", "T[*1]{0,3} cats_int64s=0,1,2 zeros=1"},
    {kMl, "SVMClassifier", Svm},
    {kMl, "SVMRegressor", Svm},
    {kMl, "Scaler", "fdil", "T[n,m] offset=0.5, scale=1.5,"},
    {kMl, "TreeEnsembleClassifier", TreeEnsembles},
    {kMl, "TreeEnsembleRegressor", TreeEnsembles},
};

}  // namespace

std::span<const Recipe> MlRecipes() { return kRows; }

}  // namespace ember::tests
