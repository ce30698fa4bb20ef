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

#include <cstdint>
#include <string>

#include "frontends/onnx/ml_attributes.h"
#include "frontends/onnx/node_context.h"
#include "frontends/ops/forest.h"

namespace ember::onnx {

using ops::TreeTable;

// The attribute 'n_targets'; fails unless it is a sensible number.
int64_t ReadTargets(NodeContext& c);
// TreeEnsemble's attributes.
TreeTable ReadTreeEnsemble(NodeContext& c);
// Those of TreeEnsembleClassifier and TreeEnsembleRegressor, whose votes are
// named by `vote` ("class" or "target").
TreeTable ReadTreeNodes(NodeContext& c, const std::string& vote,
                        int64_t targets);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_
