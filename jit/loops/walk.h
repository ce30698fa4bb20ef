// Which expressions a statement has, which nodes they are made of, and which
// loops stand in it.
//
//   for (NodeId node : NodesUnder(nest.pool, RootsOf(nest.pool, statement))) {
//     // operands come before their users, each node once
//   }
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_WALK_H_
#define EMBER_JIT_LOOPS_WALK_H_

#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// The operands that are evaluated for a node: none for an Axis, whose operand
// is the extent of its loop.
std::span<const NodeId> OperandsOf(const tensor::ExpressionPool& pool,
                                   NodeId node);

// All nodes that the roots are made of, in post-order. The order depends on the
// structure of the expressions only.
std::vector<NodeId> NodesUnder(const tensor::ExpressionPool& pool,
                               std::span<const NodeId> roots);

// The extent of an Axis node.
NodeId ExtentOf(const tensor::ExpressionPool& pool, NodeId variable);

// The expressions of the statement itself, not of its body, in the order of the
// text form: the extent of a loop, a condition, a store's indices and values, a
// check's index and extent, what is prefetched.
std::vector<NodeId> RootsOf(const tensor::ExpressionPool& pool,
                            const Statement& statement);

// Whether the statement is a loop over invocations, or over their subgroups;
// whether there is one in a block, or in its statements.
bool IsInvocationLoop(const Statement& statement);
bool HasInvocationLoop(const Block& block);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_WALK_H_
