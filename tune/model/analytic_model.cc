#include "tune/model/analytic_model.h"

#include <cmath>

#include "base/check.h"
#include "tune/model/feature_table.h"
#include "tune/model/residuals.h"

namespace ember::tune {

double AnalyticModel::Seconds(std::span<const float> features) {
  constexpr double kCyclesPerSecond = 3e9;
  EMBER_CHECK(features.size() == kFeatureCount);
  const double log_cycles =
      features[static_cast<size_t>(Feature::kEstimateCycles)];
  return std::exp2(log_cycles) / kCyclesPerSecond;
}

std::vector<CostModel::Prediction> AnalyticModel::Predict(
    std::span<const std::vector<float>> features) const {
  const double deviation = std::sqrt(squares_ / count_);
  std::vector<Prediction> predictions;
  for (const std::vector<float>& candidate : features)
    predictions.push_back({-std::log(Seconds(candidate)), deviation});
  return predictions;
}

void AnalyticModel::Update(std::span<const std::vector<float>> features,
                           std::span<const double> seconds) {
  std::vector<double> scores;
  for (const Prediction& prediction : Predict(features))
    scores.push_back(prediction.score);
  const Residuals residuals(scores, seconds);
  if (residuals.size() < 2) return;
  for (size_t i = 0; i < residuals.size(); ++i)
    squares_ += residuals[i].error * residuals[i].error;
  // The errors are relative to the mean of this group, which takes one degree
  // of freedom. So the group counts as one candidate less in the variance.
  count_ += static_cast<double>(residuals.size() - 1);
}

}  // namespace ember::tune
