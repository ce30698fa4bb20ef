// The trees of an ensemble as tensor expressions: all rows walk all trees at
// once, one level a step.
//
//   const Forest forest(builder, table, x);      // x [N, F], f32 or f64
//   Tensor scores = forest.Aggregate(Forest::kSum);          // [N, targets]
//
// The nodes are constant tables of feature, threshold and children; a level is
// the same few gathers for every tree, so the graph's size depends on the depth
// of the deepest tree only. Leaves are their own children: shallow trees wait.
#ifndef EMBER_FRONTENDS_OPS_FOREST_H_
#define EMBER_FRONTENDS_OPS_FOREST_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Nodes and leaves of all trees.
struct TreeTable {
  enum Outcome { kBelow, kEqual, kAbove, kNan };
  static constexpr int kOutcomes = 4;

  struct Branch {
    int64_t feature = 0;
    double threshold = 0;
    // Nodes: below branches.size() a branch, from there on leaves.
    std::array<int64_t, kOutcomes> children{};
  };
  struct Vote {
    int64_t target = 0;
    double weight = 0;
  };

  std::vector<Branch> branches;
  std::vector<std::vector<Vote>> leaves;
  std::vector<int64_t> roots;  // nodes
  int64_t targets = 1;
  // Thresholds or weights given as f64.
  bool wide = false;

  int64_t branch_count() const { return static_cast<int64_t>(branches.size()); }
  bool IsLeaf(int64_t node) const { return node >= branch_count(); }
};

class Forest {
 public:
  // In the order of TreeEnsemble's enumeration.
  enum Aggregation { kAverage, kSum, kMinimum, kMaximum };

  // Errors stick in the builder. Both must outlive this. features: what an
  // error calls the branches' features.
  Forest(graph::GraphBuilder& builder, const TreeTable& table, Tensor x,
         std::string_view features = "features");

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

  Tensor Integers(const std::vector<int64_t>& values) const;
  Tensor Numbers(const std::vector<double>& values) const;

  graph::GraphBuilder& builder_;
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

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FOREST_H_
