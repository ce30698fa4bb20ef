// The trees of an ensemble as tensor expressions: all rows walk all trees at
// the same time, one level per step.
//
//   const Forest forest(builder, table, x);      // x [N, F], f32 or f64
//   Tensor scores = forest.Aggregate(Forest::kSum);          // [N, targets]
//
// The nodes are constant tables of feature, threshold and children. A level is
// the same few gathers for all trees, so the graph's size depends only on the
// depth of the deepest tree. Leaves are their own children, so rows stay at
// them.
#ifndef EMBER_FRONTENDS_OPS_FOREST_H_
#define EMBER_FRONTENDS_OPS_FOREST_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// The nodes and leaves of all trees.
struct TreeTable {
  enum Outcome { kBelow, kEqual, kAbove, kNan };
  static constexpr int kOutcomes = 4;

  struct Branch {
    int64_t feature = 0;
    double threshold = 0;
    // Numbers of nodes: below branches.size() they are branches, from there on
    // leaves.
    std::array<int64_t, kOutcomes> children{};
  };
  struct Vote {
    int64_t target = 0;
    double weight = 0;
  };

  std::vector<Branch> branches;
  std::vector<std::vector<Vote>> leaves;
  std::vector<int64_t> roots;  // root node of each tree
  int64_t targets = 1;
  // True if thresholds or weights are given as f64.
  bool wide = false;

  int64_t branch_count() const { return static_cast<int64_t>(branches.size()); }
  bool IsLeaf(int64_t node) const { return node >= branch_count(); }
};

class Forest {
 public:
  // The values have the order of TreeEnsemble's enumeration.
  enum Aggregation { kAverage, kSum, kMinimum, kMaximum };

  // Errors stay in the builder. Builder and table must outlive this object.
  // `features`: the name of the branches' features in errors.
  Forest(graph::GraphBuilder& builder, const TreeTable& table, Tensor x,
         std::string_view features = "features");

  // Aggregates the votes of the reached leaves per target: [N, targets], 0 for
  // targets without votes.
  Tensor Aggregate(Aggregation aggregation) const;
  // True if any reached leaf votes for the target.
  Tensor IsVotedFor(int64_t target) const;  // bool [N, 1]
  // True if the result of IsVotedFor is true, or false, for every row.
  bool AlwaysVotedFor(int64_t target) const { return always_[target]; }
  bool NeverVotedFor(int64_t target) const { return never_[target]; }

 private:
  struct Votes {  // votes of each leaf, one per target
    std::vector<std::vector<TreeTable::Vote>> leaves;
    double none = 0;  // neutral element of the combiner
    const char* combiner = "sum";
  };

  void Survey();
  void ArrangeTrees();
  void Walk(Tensor x);
  Tensor NextNode(Tensor x, Tensor node, bool first) const;
  Votes Combine(Aggregation aggregation) const;
  // Returns [N, targets], `none` where there is no vote.
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
  // The roots in the order of the walk. If each tree votes for one target only,
  // they are sorted by target, with the same number of slots for each; slots
  // without a tree begin at leaf -1.
  std::vector<int64_t> slots_;
  bool by_target_ = false;
  // The tables of nodes.
  int test_ = -1;  // row of the table of tests; -1: all outcomes
  Tensor features_, thresholds_, children_;
  Tensor leaf_;  // [N, slots]
};

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FOREST_H_
