// The trees of an ensemble in one normal form, for all operators that have
// them.
//
// A branch compares a feature with a threshold and has a child per outcome
// (below, equal, above, NaN). Code that walks the trees thus need not
// distinguish modes, swapped children and missing values. A test of membership
// in a set becomes a search tree of such branches. Nodes form a directed graph
// without cycles; branches are numbered first, then leaves.
//
//   const TreeTable table = ReadTreeEnsemble(c);   // check c.ok()
//   table.branches[table.roots[0]].children[TreeTable::kBelow]
#ifndef EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_
#define EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_

#include <cstdint>
#include <string>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/node/context.h"
#include "frontends/ops/forest.h"

namespace ember::onnx {

using ops::TreeTable;

// Reads the attribute 'n_targets'; fails unless it is a sensible number.
int64_t ReadTargets(NodeContext& c);
// Reads TreeEnsemble's attributes.
TreeTable ReadTreeEnsemble(NodeContext& c);
// Reads the attributes of TreeEnsembleClassifier and TreeEnsembleRegressor. The
// names of attributes for votes begin with `vote` ("class" or "target").
TreeTable ReadTreeNodes(NodeContext& c, const std::string& vote,
                        int64_t targets);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_TREE_TABLE_H_
