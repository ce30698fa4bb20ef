// A cost model without training. For each phase it takes the time of computing
// or of fetching data, whichever is longer, and adds the costs of loops, tasks
// and phases. Its constants are those of common processors, so the order of
// candidates is more reliable than their times.
//
//   AnalyticModel model;
//   AnalyticModel::Seconds(features);   // 0.0012
//
// A score is -ln(estimated seconds), so scores of different tasks can be
// compared, too. If a nest needs more of one thing (instructions, latency,
// bytes from a cache, loops, phases) than another nest and no less of the
// others, its estimate is never lower.
//
// Source: Williams, Waterman, Patterson, "Roofline: an insightful visual
// performance model for multicore architectures" (CACM 2009), with one roof for
// each cache, and with a share of the shorter time that does not overlap with
// the longer one.
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
  // Changes only the deviation of later predictions, not their scores.
  void Update(std::span<const std::vector<float>> features,
              std::span<const double> seconds) override;

 private:
  // Count and sum of the squared errors of candidates. They start as if
  // kFirstCount candidates with the error kFirstDeviation had been measured.
  static constexpr double kFirstCount = 16, kFirstDeviation = 0.7;
  double count_ = kFirstCount;
  double squares_ = kFirstCount * kFirstDeviation * kFirstDeviation;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_ANALYTIC_MODEL_H_
