// A cost model of regression trees. The trees were trained ahead of time on
// measured schedules of other dispatches; the model corrects their predictions
// with the schedules that are measured in this run.
//
//   EMBER_ASSIGN_OR_RETURN(TreeModel model, TreeModel::Shipped());
//   const auto predictions = model.Predict(features);
//
// A score is the sum of three parts: the weighted estimate of the analytic
// model, the mean of the results of several ensembles of trees, and a
// correction from measured candidates with similar features (error_memory.h).
// The deviation is small where the ensembles agree and similar candidates have
// been measured.
//
// How the trees were made, and how well they predict: tune/model/README.md.
#ifndef EMBER_TUNE_MODEL_TREE_MODEL_H_
#define EMBER_TUNE_MODEL_TREE_MODEL_H_

#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "tune/model/cost_model.h"
#include "tune/model/error_memory.h"
#include "tune/model/tree_table.h"

namespace ember::tune {

class TreeModel final : public CostModel {
 public:
  explicit TreeModel(TreeTable table);

  // Returns the model with the trees that are part of this program.
  static TreeModel Shipped();

  std::vector<Prediction> Predict(
      std::span<const std::vector<float>> features) const override;
  void Update(std::span<const std::vector<float>> features,
              std::span<const double> seconds) override;

 private:
  // Returns the prediction without the correction from measured candidates.
  Prediction PredictByTrees(std::span<const float> features) const;

  TreeTable table_;
  ErrorMemory errors_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_TREE_MODEL_H_
