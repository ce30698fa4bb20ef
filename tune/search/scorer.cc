#include "tune/search/scorer.h"

#include <cmath>
#include <limits>

#include "tune/search/draft.h"

namespace ember::tune {
namespace {

// The expected error of the analytic model's scores: a factor of 2.
constexpr double kDraftDeviation = 0.7;

}  // namespace

std::vector<double> Scorer::Draft(std::span<const Candidate> candidates) const {
  std::vector<double> scores;
  scores.reserve(candidates.size());
  for (const Candidate& candidate : candidates)
    scores.push_back(-std::log(DraftCycles(candidate.nest, target_)));
  return scores;
}

std::vector<CostModel::Prediction> Scorer::Score(
    std::span<const Candidate> candidates) const {
  if (has_model()) {
    std::vector<std::vector<float>> features;
    features.reserve(candidates.size());
    for (const Candidate& candidate : candidates)
      features.push_back(FeaturesOf(candidate));
    return options_.model->Predict(features);
  }
  std::vector<CostModel::Prediction> predictions;
  for (const double score : Draft(candidates))
    predictions.push_back({.score = score, .deviation = kDraftDeviation});
  return predictions;
}

std::vector<float> Scorer::FeaturesOf(const Candidate& candidate) const {
  if (!has_model()) return {};
  return options_.features(candidate.nest);
}

void Scorer::Learn(std::span<const Tried> trials, double seconds) {
  if (!has_model()) return;
  std::vector<std::vector<float>> features;
  std::vector<double> times;
  for (const Tried& tried : trials) {
    if (tried.features.empty()) continue;
    features.push_back(tried.features);
    times.push_back(tried.outcome == Outcome::kMeasured ||
                            tried.outcome == Outcome::kHopeless
                        ? tried.ratio * seconds
                        : std::numeric_limits<double>::infinity());
  }
  if (!features.empty()) options_.model->Update(features, times);
}

}  // namespace ember::tune
