// Walks statements: their expressions, the nodes that these are made of, and
// the loops within.
//
//   for (NodeId node : NodesUnder(nest.pool, RootsOf(nest.pool, statement))) {
//     // operands come before their users, each node once
//   }
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_WALK_H_
#define EMBER_JIT_LOOPS_WALK_H_

#include <cstddef>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Returns the operands that are evaluated to compute a node. An Axis (a loop's
// variable) has none: its operand, the loop's extent, is not evaluated for it.
std::span<const NodeId> OperandsOf(const tensor::ExpressionPool& pool,
                                   NodeId node);

// Returns the roots and all nodes that they are computed from, in post-order.
// The order depends only on the structure of the expressions.
std::vector<NodeId> NodesUnder(const tensor::ExpressionPool& pool,
                               std::span<const NodeId> roots);

// Returns the width of the vector of which a marked Load or Pad reads an
// element (IsVectorWidth); 0 for all other nodes.
uint32_t VectorOf(const tensor::Node& node);

// Returns the bounds test of index `dim` of a Pad node.
BoundsTest TestOf(const tensor::Node& pad, size_t dim);

// Returns the immediate of a Load or Pad node with this vector width and these
// bounds tests, one for each dim.
uint64_t MarksOf(uint32_t vector, std::span<const BoundsTest> tests);

// True if the i64 node may not fit 32 bits (LoopNest::wide).
bool IsWide(const LoopNest& nest, NodeId node);

// Returns the extent of an Axis node.
NodeId ExtentOf(const tensor::ExpressionPool& pool, NodeId variable);

// Returns the expressions of the statement itself, without its body, in the
// order of the text form: the extent of a loop, a condition, a store's indices
// and values, a check's index and extent, a prefetch's index, the index of a
// slot.
std::vector<NodeId> RootsOf(const tensor::ExpressionPool& pool,
                            const Statement& statement);

// IsInvocationLoop is true if the statement is a loop over invocations or over
// subgroups. HasInvocationLoop is true if the block contains such a loop at any
// depth.
bool IsInvocationLoop(const Statement& statement);
bool HasInvocationLoop(const Block& block);

// Returns the first store in the statement, at any depth; null if there is
// none.
const Store* FirstStore(const Statement& statement);

// True if the statement or one inside it is only for the producer
// (Statement::of_producer).
bool HasProducer(const Statement& statement);

// True if a store of the statement combines the values of subgroups
// (Store::combining).
bool CombinesSubgroups(const Statement& statement);

// True if one of the buffers is an output that is marked as perhaps having the
// memory of the other, an input (Buffer::shares). The order of a and b does not
// matter; also true if a is b.
bool AreMarkedAsShared(const LoopNest& nest, uint32_t a, uint32_t b);

// True if loads from the buffer give the same values throughout the nest: it is
// an input, and no output is marked as sharing its memory (Buffer::shares).
bool IsNeverWritten(const LoopNest& nest, uint32_t buffer);

// Returns the update that combines two values of a subgroup, for example kAdd
// for kSum. `combining` is not kNone.
tensor::Update UpdateOf(Combining combining);

// Returns the number of statements in the block or a part of it, at any depth,
// without barriers.
size_t CountStatements(std::span<const Statement> block);

// HasBarrier is true if the block contains a barrier at any depth. IsPlaced is
// true if the phases of the nest have workgroups (jit/loops/workgroup.h).
// IsDeviceNest is true if a phase has a barrier or a workgroup.
bool HasBarrier(const Block& block);
bool IsPlaced(const LoopNest& nest);
bool IsDeviceNest(const LoopNest& nest);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_WALK_H_
