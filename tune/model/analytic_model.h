// A cost model without training: the larger one of computing and fetching, for
// each phase, plus the costs of loops, tasks and phases. Its numbers are those
// of common processors, so the order of candidates is more reliable than their
// times.
//
//   AnalyticModel model;
//   AnalyticModel::Seconds(features);   // 0.0012
//
// Scores are -ln of seconds, so they also compare tasks with each other. For a
// nest that needs more of something (instructions, latency, bytes from a cache,
// loops, phases) and no less of the others, the estimate is never lower.
//
// Source: Williams, Waterman, Patterson, "Roofline: an insightful visual
// performance model for multicore architectures" (CACM 2009), with a roof per
// cache and a share that overlapping does not hide.
#ifndef EMBER_TUNE_MODEL_ANALYTIC_MODEL_H_
#define EMBER_TUNE_MODEL_ANALYTIC_MODEL_H_

#include <span>
#include <vector>

#include "tune/model/cost_model.h"

namespace ember::tune {

class AnalyticModel final : public CostModel {
 public:
  // Returns the estimated time of a call of the nest with these features.
  static double Seconds(std::span<const float> features);

  std::vector<Prediction> Predict(
      std::span<const std::vector<float>> features) const override;
  // Changes the deviation only.
  void Update(std::span<const std::vector<float>> features,
              std::span<const double> seconds) override;

 private:
  // Squared errors, as if kFirstCount candidates had been measured before.
  static constexpr double kFirstCount = 16, kFirstDeviation = 0.7;
  double count_ = kFirstCount;
  double squares_ = kFirstCount * kFirstDeviation * kFirstDeviation;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_ANALYTIC_MODEL_H_
