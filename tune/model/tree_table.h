// Ensembles of regression trees in a flat file, and their evaluation. XGBoost
// trains them (tools/tune_model.py); nothing of it is needed to use them.
//
//   EMBER_ASSIGN_OR_RETURN(const TreeTable table, TreeTable::Parse(bytes));
//   table.Evaluate(0, features);   // the sum of the first ensemble's trees
//
// The file's numbers are little-endian:
//
//   "EMTREES1"
//   u32 version of the features (kFeatureVersion), u32 number of features
//   f32 share of the analytic estimate in the score, f32 deviation
//   u32 number of ensembles, and for each of them:
//     u32 number of trees, u32 number of nodes
//     u32 the first node of each tree
//     nodes: u16 feature, u16 distance to the right child, f32 threshold;
//            or u16 0xffff, u16 0, f32 value
//
// The left child of a node is the next node. It is taken if the feature is
// below the threshold.
//
// Files may come from strangers: Parse checks sizes before it takes memory, and
// that children follow their parents, so that evaluation ends. A value;
// thread-safe.
#ifndef EMBER_TUNE_MODEL_TREE_TABLE_H_
#define EMBER_TUNE_MODEL_TREE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"

namespace ember::tune {

class TreeTable {
 public:
  // Errors: kDataLoss if the file is damaged, kUnimplemented if it is of
  // another version of the features.
  static StatusOr<TreeTable> Parse(std::span<const uint8_t> file);

  size_t ensembles() const { return ensembles_.size(); }
  size_t tree_count() const;
  // The factor with which the analytic estimate enters the score.
  double analytic_share() const { return analytic_share_; }
  // The standard deviation of the trees' scores from measured times, on
  // dispatches that were left out of the training.
  double deviation() const { return deviation_; }

  // Returns the sum of the results of an ensemble's trees for a nest with these
  // features. There must be kFeatureCount features.
  double Evaluate(size_t ensemble, std::span<const float> features) const;

 private:
  struct Node {
    uint16_t feature = 0;
    uint16_t right = 0;  // distance in nodes to the right child; 0 for leaves
    float number = 0;    // threshold or value
  };
  struct Ensemble {
    std::vector<uint32_t> trees;
    std::vector<Node> nodes;
  };

  static Status CheckTree(const Ensemble& ensemble, size_t begin, size_t end);

  double analytic_share_ = 0;
  double deviation_ = 0;
  std::vector<Ensemble> ensembles_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_TREE_TABLE_H_
