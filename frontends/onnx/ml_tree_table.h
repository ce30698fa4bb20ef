// The trees of an ensemble in one normal form, whatever operator they come
// from.
//
// A branch compares a feature with a threshold and has a child per outcome
// (below, equal, above, NaN), so that every mode, swapped children and missing
// values are the same to what walks the trees; a test of membership in a set is
// a search tree of such branches. Nodes are a directed graph without cycles:
// branches first, then leaves.
//
//   const TreeTable table = ReadTreeEnsemble(c);   // c.ok() tells
//   table.branches[table.roots[0]].children[TreeTable::kBelow]
#ifndef EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_
#define EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "frontends/onnx/ml_attributes.h"
#include "frontends/onnx/node_context.h"

namespace ember::onnx {

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

// The attribute 'n_targets'; fails unless it is a sensible number.
int64_t ReadTargets(NodeContext& c);
// TreeEnsemble's attributes.
TreeTable ReadTreeEnsemble(NodeContext& c);
// Those of TreeEnsembleClassifier and TreeEnsembleRegressor, whose votes are
// named by `vote` ("class" or "target").
TreeTable ReadTreeNodes(NodeContext& c, const std::string& vote,
                        int64_t targets);

// The number of branches on the longest way from each root. Fails on cycles.
std::vector<int64_t> TreeDepths(NodeContext& c, const TreeTable& table);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_
