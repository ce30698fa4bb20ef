#include "tune/search/scorer.h"

#include <cmath>
#include <limits>

namespace ember::tune {

std::vector<double> Scorer::Draft(std::span<const Candidate> candidates) const {
  std::vector<double> scores;
  scores.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    scores.push_back(-std::log(AnalyticModel::Seconds(candidate.features)));
  return scores;
}

std::vector<CostModel::Prediction> Scorer::Score(
    std::span<const Candidate> candidates) const {
  std::vector<std::vector<float>> features;
  features.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    features.push_back(candidate.features);
  return model_ != nullptr ? model_->Predict(features)
                           : analytic_.Predict(features);
}

void Scorer::Learn(std::span<const Tried> trials, double seconds) {
  std::vector<std::vector<float>> features;
  std::vector<double> times;
  for (const Tried& tried : trials) {
    if (tried.features.empty()) continue;
    features.push_back(tried.features);
    const bool has_time = tried.outcome == Outcome::kMeasured ||
                          tried.outcome == Outcome::kHopeless;
    times.push_back(has_time ? tried.ratio * seconds
                             : std::numeric_limits<double>::infinity());
  }
  if (features.empty()) return;
  analytic_.Update(features, times);
  if (model_ != nullptr) model_->Update(features, times);
}

}  // namespace ember::tune
