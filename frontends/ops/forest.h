// The trees of an ensemble as tensor expressions: all rows descend all trees at
// the same time, one level per step.
//
//   const Forest forest(builder, table, x);      // x [N, F], f32 or f64
//   Tensor scores = forest.Aggregate(Forest::kSum);          // [N, targets]
//
// The nodes are constant tables of feature, threshold and children. A level is
// the same few gathers for all trees, so the graph's size depends only on the
// depth of the deepest tree. A leaf is its own child, so a row that has reached
// a leaf stays there.
#ifndef EMBER_FRONTENDS_OPS_FOREST_H_
#define EMBER_FRONTENDS_OPS_FOREST_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// The branches and leaves of all trees of an ensemble.
struct TreeTable {
  enum Outcome { kBelow, kEqual, kAbove, kNan };
  static constexpr int kOutcomes = 4;

  struct Branch {
    int64_t feature = 0;
    double threshold = 0;
    // The node to which each outcome leads. Numbers below branches.size() are
    // branches, larger numbers are leaves.
    std::array<int64_t, kOutcomes> children{};
  };
  struct Vote {
    int64_t target = 0;
    double weight = 0;
  };

  std::vector<Branch> branches;
  std::vector<std::vector<Vote>> leaves;
  std::vector<int64_t> roots;  // For each tree, the number of its root.
  int64_t targets = 1;
  // True if the model gives thresholds or weights as f64, so that they are
  // compared and summed in f64.
  bool wide = false;

  int64_t branch_count() const { return static_cast<int64_t>(branches.size()); }
  bool IsLeaf(int64_t node) const { return node >= branch_count(); }
};

class Forest {
 public:
  // The ways to combine votes, in the order of the numbers that ONNX's
  // TreeEnsemble gives them.
  enum Aggregation { kAverage, kSum, kMinimum, kMaximum };

  // Builds the descent of all rows of x [N, F]. Builder and table must outlive
  // this object. Errors stay in the builder; `features` is the name of the
  // table's features in them.
  Forest(graph::GraphBuilder& builder, const TreeTable& table, Tensor x,
         std::string_view features = "features");

  // Aggregates the votes of the reached leaves per target: [N, targets], and 0
  // for targets without votes.
  Tensor Aggregate(Aggregation aggregation) const;
  // Returns, for each row, true if any of the leaves that the row reaches votes
  // for the target.
  Tensor IsVotedFor(int64_t target) const;  // bool [N, 1]
  // True if IsVotedFor is known without a run: every row votes for the target
  // (AlwaysVotedFor), or no row does (NeverVotedFor).
  bool AlwaysVotedFor(int64_t target) const { return always_[target]; }
  bool NeverVotedFor(int64_t target) const { return never_[target]; }

 private:
  // The votes of each leaf, combined so that a leaf has at most one vote per
  // target.
  struct Votes {
    std::vector<std::vector<TreeTable::Vote>> leaves;
    // The result for a target without votes, which is the neutral element of
    // `combiner`: 0 for a sum.
    double none = 0;
    const char* combiner = "sum";
  };

  void Survey();
  void ArrangeTrees();
  void Walk(Tensor x);
  Tensor NextNode(Tensor x, Tensor node, bool first) const;
  Votes Combine(Aggregation aggregation) const;
  // Returns, per row and target, the combined votes of the leaves that the row
  // reaches, [N, targets]; votes.none for a target without a vote.
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
  // The leaves that each tree can reach.
  std::vector<std::vector<int64_t>> reachable_;
  std::vector<bool> always_, never_;  // per target
  // The nodes at which each row starts, one per tree: the roots. If each tree
  // votes for a single target (by_target_), they are sorted by target, and each
  // target has the same number of them; -1 fills up the list and means an extra
  // leaf without votes.
  std::vector<int64_t> starts_;
  bool by_target_ = false;
  // Index in kTests of the comparison by which every branch can be decided; -1
  // if there is none, so that each branch has a child per outcome. features_,
  // thresholds_ and children_ are the tables of all nodes.
  int test_ = -1;
  Tensor features_, thresholds_, children_;
  Tensor leaf_;  // [N, start nodes]
};

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_FOREST_H_
