// Scores candidates before they are measured: by the analytic model, and by a
// learned one (tune/model/cost_model.h).
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
  // model: the learned model; null: the analytic one ranks alone.
  explicit Scorer(CostModel* model) : model_(model) {}

  // Returns scores of the analytic model; higher is faster.
  std::vector<double> Draft(std::span<const Candidate> candidates) const;
  // Returns predictions of the learned model, or of the analytic one.
  std::vector<CostModel::Prediction> Score(
      std::span<const Candidate> candidates) const;

  // Updates the analytic model, and the learned model if there is one, with the
  // trials of one task. seconds: the time of the task's default schedule, by
  // which the ratios of the trials are multiplied.
  void Learn(std::span<const Tried> trials, double seconds);

 private:
  CostModel* const model_;
  AnalyticModel analytic_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_SCORER_H_
