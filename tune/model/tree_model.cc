#include "tune/model/tree_model.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "tune/model/analytic_model.h"
#include "tune/model/residuals.h"
#include "tune/model/shipped_trees.h"

namespace ember::tune {

TreeModel::TreeModel(TreeTable table)
    : table_(std::move(table)), errors_(table_.deviation()) {}

TreeModel TreeModel::Shipped() {
  StatusOr<TreeTable> table = TreeTable::Parse(kShippedTrees);
  EMBER_CHECK(table.ok()) << table.status().ToString();
  return TreeModel(*std::move(table));
}

CostModel::Prediction TreeModel::PredictByTrees(
    std::span<const float> features) const {
  const auto count = static_cast<double>(table_.ensembles());
  double sum = 0, squares = 0;
  for (size_t i = 0; i < table_.ensembles(); ++i) {
    const double value = table_.Evaluate(i, features);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  const double variance = std::max(squares / count - mean * mean, 0.0);
  const double estimate = -std::log(AnalyticModel::Seconds(features));
  return {table_.analytic_share() * estimate + mean, std::sqrt(variance)};
}

std::vector<CostModel::Prediction> TreeModel::Predict(
    std::span<const std::vector<float>> features) const {
  std::vector<Prediction> predictions;
  for (const std::vector<float>& candidate : features) {
    const Prediction by_trees = PredictByTrees(candidate);
    const ErrorMemory::Expected error = errors_.At(candidate);
    predictions.push_back({by_trees.score + error.mean,
                           std::hypot(by_trees.deviation, error.deviation)});
  }
  return predictions;
}

void TreeModel::Update(std::span<const std::vector<float>> features,
                       std::span<const double> seconds) {
  std::vector<double> scores;
  for (const std::vector<float>& candidate : features)
    scores.push_back(PredictByTrees(candidate).score);
  const Residuals residuals(scores, seconds);
  if (residuals.size() < 2) return;
  for (size_t i = 0; i < residuals.size(); ++i)
    errors_.Add(features[residuals[i].candidate], residuals[i].error);
  errors_.Learn();
}

}  // namespace ember::tune
