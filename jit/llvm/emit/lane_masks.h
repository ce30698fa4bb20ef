// Computes the lanes that satisfy a condition on an index that moves with the
// lane. Bounds on i + lane are ranges of lanes: the ends of a range are
// computed with scalars, and lane numbers are compared with them once, in the
// narrowest possible elements.
//
//   i * 16 + j < n, in lanes of j   ->   lane < clamp(n - i * 16, 0, 16)
//   j floordiv 3 - 1 >= 0           ->   lane >= 3
#ifndef EMBER_JIT_LLVM_EMIT_LANE_MASKS_H_
#define EMBER_JIT_LLVM_EMIT_LANE_MASKS_H_

#include <functional>
#include <span>

#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/linear_index.h"
#include "jit/llvm/emit/scopes.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

// The lanes in which all added conditions hold.
struct LaneSet {
  // a condition that all lanes share, an i1; null: true
  llvm::Value* uniform = nullptr;
  // The range of lanes [low, high), i64 in 0..lanes; null means 0 for low and
  // all lanes for high.
  llvm::Value* low = nullptr;
  llvm::Value* high = nullptr;
  // condition of each lane (lanes x i1); null: it holds in all lanes
  llvm::Value* mask = nullptr;
  int depth = 0;  // the scope in which these values are computed

  bool IsAll() const { return !uniform && IsUniform(); }
  bool IsUniform() const { return !low && !high && !mask; }
};

class LaneMasks {
 public:
  LaneMasks(const tensor::ExpressionPool& pool, Scopes& scopes,
            Builder& builder, IndexLinearizer& linearizer,
            std::function<llvm::Value*(NodeId)> emit)
      : pool_(pool),
        scopes_(scopes),
        b_(builder),
        linearizer_(linearizer),
        emit_(std::move(emit)) {}

  // Returns a < b (or <=) of i64 nodes that vary by lane as a range of lanes;
  // null if it is not a range.
  llvm::Value* Compare(NodeId a, NodeId b, bool or_equal);
  // Adds the condition 0 <= index < extent to the set. A bound that the ranges
  // of the values prove adds nothing.
  void AddInBounds(NodeId index, NodeId extent, LaneSet& set);
  // Returns the set as a mask of lanes x i1.
  llvm::Value* MaskOf(const LaneSet& set);

 private:
  // These functions add the conditions index >= bound and index < bound.
  void AddNotBelow(const LinearIndex& index, llvm::Value* bound, LaneSet& set);
  void AddBelow(const LinearIndex& index, llvm::Value* bound, LaneSet& set);
  llvm::Value* ClampedDifference(llvm::Value* a, llvm::Value* b);
  // Returns the node's value for use as a bound. A large value is replaced by
  // one that no i + lane reaches.
  llvm::Value* BoundOf(NodeId id);
  // Returns the node's value, or 0 if it is negative.
  llvm::Value* ExtentOf(NodeId id);
  bool IsLaneStep(NodeId id, LinearIndex& index);
  // Writes an index as a step per lane: returns a number n such that 0 <= id <
  // extent is equivalent to 0 <= index < extent * n, where index is i + lane or
  // i - lane without wrapping. Returns 0 if there is no such n.
  int64_t LaneStepsOf(NodeId id, NodeId extent, LinearIndex& index);
  void And(llvm::Value*& all, llvm::Value* one);

  const tensor::ExpressionPool& pool_;
  Scopes& scopes_;
  Builder& b_;
  IndexLinearizer& linearizer_;
  std::function<llvm::Value*(NodeId)> emit_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_LANE_MASKS_H_
