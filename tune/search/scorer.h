// Predicts which candidates are fast, before they are measured: with the
// analytic cost model, and with a learned one (tune/model/cost_model.h).
//
//   Scorer scorer(&model);
//   std::vector<double> drafts = scorer.Draft(candidates);
//   std::vector<CostModel::Prediction> scores = scorer.Score(candidates);
//   scorer.Learn(trials, seconds);
//
// The model must outlive the scorer. Not thread-safe.
#ifndef EMBER_TUNE_SEARCH_SCORER_H_
#define EMBER_TUNE_SEARCH_SCORER_H_

#include <span>
#include <vector>

#include "tune/model/analytic_model.h"
#include "tune/model/cost_model.h"
#include "tune/search/task_state.h"
#include "tune/space/space.h"

namespace ember::tune {

class Scorer {
 public:
  // `model` is the learned model. If it is null, the analytic model gives all
  // scores.
  explicit Scorer(CostModel* model) : model_(model) {}

  // Returns a quick score of each candidate, from the analytic model; a higher
  // one is faster.
  std::vector<double> Draft(std::span<const Candidate> candidates) const;
  // Returns predictions of the learned model; if there is none, of the analytic
  // one.
  std::vector<CostModel::Prediction> Score(
      std::span<const Candidate> candidates) const;

  // Updates the models with the trials of one task. `seconds` is the time of
  // the task's default schedule; a trial's ratio times `seconds` is its time.
  void Learn(std::span<const Tried> trials, double seconds);

 private:
  CostModel* const model_;
  AnalyticModel analytic_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_SCORER_H_
