// The trees of an ensemble as tensor expressions: all rows walk all trees at
// once, one level a step.
//
//   const Forest forest(c, table, x);            // x [N, F], f32 or f64
//   Tensor scores = forest.Aggregate(Forest::kSum);          // [N, targets]
//
// The nodes are constant tables of feature, threshold and children; a level is
// the same few gathers for every tree, so the graph's size depends on the depth
// of the deepest tree only. Leaves are their own children: shallow trees wait.
#ifndef EMBER_FRONTENDS_ONNX_ML_FOREST_H_
#define EMBER_FRONTENDS_ONNX_ML_FOREST_H_

#include <cstdint>
#include <vector>

#include "frontends/onnx/ml_tree_table.h"
#include "frontends/onnx/node_context.h"

namespace ember::onnx {

class Forest {
 public:
  // In the order of TreeEnsemble's enumeration.
  enum Aggregation { kAverage, kSum, kMinimum, kMaximum };

  // Errors stick in the context. Both must outlive this.
  Forest(NodeContext& c, const TreeTable& table, Tensor x);

  // The votes of the leaves that are reached, per target: [N, targets], 0 where
  // there is none.
  Tensor Aggregate(Aggregation aggregation) const;
  // Whether any leaf that is reached votes for the target.
  Tensor IsVotedFor(int64_t target) const;  // bool [N, 1]
  // The same where it does not depend on the row.
  bool AlwaysVotedFor(int64_t target) const { return always_[target]; }
  bool NeverVotedFor(int64_t target) const { return never_[target]; }

 private:
  struct Votes {  // of each leaf, one per target
    std::vector<std::vector<TreeTable::Vote>> leaves;
    double none = 0;  // what changes nothing
    const char* combiner = "sum";
  };

  void Survey();
  void ArrangeTrees();
  void Walk(Tensor x);
  Tensor NextNode(Tensor x, Tensor node, bool first) const;
  Votes Combine(Aggregation aggregation) const;
  // [N, targets], `none` where there is no vote.
  Tensor Collect(const Votes& votes) const;
  Tensor CollectByTree(const Votes& votes) const;
  Tensor CollectDense(const Votes& votes) const;
  Tensor CollectSparse(const Votes& votes) const;
  int64_t leaf_count() const {
    return static_cast<int64_t>(table_.leaves.size());
  }

  NodeContext& c_;
  const TreeTable& table_;
  DType type_;
  std::vector<std::vector<int64_t>> reachable_;  // leaves of each tree
  std::vector<bool> always_, never_;             // per target
  // The roots as walked. By target, all with the same number of trees, where
  // each tree votes for one target only; leaf -1 fills up.
  std::vector<int64_t> slots_;
  bool by_target_ = false;
  // Tables of nodes.
  int test_ = -1;  // row of the table of tests; -1: all outcomes
  Tensor features_, thresholds_, children_;
  Tensor leaf_;  // [N, slots]
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_FOREST_H_
