// Scores candidates before they are measured: by an analytic model (draft.h),
// or by a learned one (tune/model/cost_model.h) once it knows the task.
//
//   Scorer scorer(target, {.model = &model, .features = NestFeatures});
//   std::vector<double> drafts = scorer.Draft(candidates);
//   std::vector<CostModel::Prediction> scores = scorer.Score(candidates);
//   scorer.Learn(trials);
//
// The model must outlive the scorer. Not thread-safe.
#ifndef EMBER_TUNE_SEARCH_SCORER_H_
#define EMBER_TUNE_SEARCH_SCORER_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tune/model/cost_model.h"
#include "tune/search/task_state.h"
#include "tune/space/space.h"

namespace ember::tune {

struct ScorerOptions {
  // The learned model; null: only the analytic one is used.
  CostModel* model = nullptr;
  // Returns the features of a candidate; needed with a model.
  std::function<std::vector<float>(const loops::LoopNest& nest)> features;
};

class Scorer {
 public:
  Scorer(std::string target, ScorerOptions options)
      : target_(std::move(target)), options_(std::move(options)) {}

  // Returns scores of the analytic model; higher is faster.
  std::vector<double> Draft(std::span<const Candidate> candidates) const;
  // Returns predictions of the learned model if there is one, otherwise of the
  // analytic one, with a large deviation.
  std::vector<CostModel::Prediction> Score(
      std::span<const Candidate> candidates) const;
  bool has_model() const { return options_.model != nullptr; }

  // Returns the features that Learn needs; empty without a model.
  std::vector<float> FeaturesOf(const Candidate& candidate) const;
  // Teaches the model trials of one task. seconds: the time of the task's
  // default schedule.
  void Learn(std::span<const Tried> trials, double seconds);

 private:
  const std::string target_;
  const ScorerOptions options_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SEARCH_SCORER_H_
