// Predicts which of a dispatch's schedules are fast, from features of their
// loop nests (tune/model/nest_features.h), without running them.
//
//   std::vector<std::vector<float>> features;      // of the candidates
//   const auto predictions = model.Predict(features);
//   ... measure those with the highest scores ...
//   model.Update(measured, seconds);               // refines what comes next
//
// Scores compare candidates of one task, that is, one dispatch for one target.
// Each implementation says if its scores also compare tasks with each other.
//
// Thread-safety: Predict may run in many threads at once, but not beside
// Update.
#ifndef EMBER_TUNE_MODEL_COST_MODEL_H_
#define EMBER_TUNE_MODEL_COST_MODEL_H_

#include <span>
#include <vector>

namespace ember::tune {

class CostModel {
 public:
  struct Prediction {
    // Higher is faster. A unit of 1 is a factor of e in time.
    double score = 0;
    // The expected error of the score, in the same unit; not negative.
    double deviation = 0;
  };

  virtual ~CostModel() = default;

  // Returns a prediction for each candidate, in order. Each element of
  // `features` is a result of NestFeatures.
  virtual std::vector<Prediction> Predict(
      std::span<const std::vector<float>> features) const = 0;

  // Learns from candidates of one task that were measured. seconds: the time of
  // each candidate, in order; infinity if the candidate failed.
  virtual void Update(std::span<const std::vector<float>> features,
                      std::span<const double> seconds) = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_COST_MODEL_H_
