// Predicts which of a dispatch's schedules are fast, from features of their
// loop nests (tune/model/nest_features.h), without running them.
//
//   std::vector<std::vector<float>> features;      // of the candidates
//   const auto predictions = model.Predict(features);
//   ... measure those with the highest scores ...
//   model.Update(measured, seconds);               // refines what comes next
//
// Scores of candidates of one task (one dispatch for one target) can be
// compared. Each implementation says if scores of different tasks can be
// compared as well.
//
// Thread-safety: several threads may call Predict at once, but not while
// another one calls Update.
#ifndef EMBER_TUNE_MODEL_COST_MODEL_H_
#define EMBER_TUNE_MODEL_COST_MODEL_H_

#include <span>
#include <vector>

namespace ember::tune {

class CostModel {
 public:
  struct Prediction {
    // A higher score predicts a shorter time. A difference of 1 between two
    // scores predicts a factor of e between their times.
    double score = 0;
    // The expected error of the score, in the score's unit; not negative.
    double deviation = 0;
  };

  virtual ~CostModel() = default;

  // Predicts the times of candidates. `features` holds a result of NestFeatures
  // for each candidate; the predictions have the same order.
  virtual std::vector<Prediction> Predict(
      std::span<const std::vector<float>> features) const = 0;

  // Learns from measured candidates of one task. `seconds` holds the time of
  // each candidate, in the order of `features`; infinity if the candidate
  // failed.
  virtual void Update(std::span<const std::vector<float>> features,
                      std::span<const double> seconds) = 0;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_COST_MODEL_H_
