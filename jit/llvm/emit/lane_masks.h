// Computes the mask of the lanes in which an index that moves with the lane is
// within bounds. A bound on i + lane holds in a contiguous range of lanes:
// scalar code computes the ends of the range, and one vector comparison of lane
// numbers with each end yields the mask. Its elements are as narrow as
// possible.
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

// The set of lanes in which all conditions that were added to it hold.
struct LaneSet {
  // an i1 that is the same for all lanes: no lane is in the set if it is false;
  // null: true
  llvm::Value* uniform = nullptr;
  // Only lanes in [low, high) are in the set. Both are i64 in 0..lanes; null
  // means 0 for low and the number of lanes for high.
  llvm::Value* low = nullptr;
  llvm::Value* high = nullptr;
  // Only lanes that are true in this mask (lanes x i1) are in the set; null:
  // all lanes.
  llvm::Value* mask = nullptr;
  // Depth of the scope in which the values of the set are computed.
  int depth = 0;

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

  // Returns the mask of the lanes in which a < b (or a <= b) for i64 nodes,
  // computed as a range of lanes. Returns null if the lanes form no range.
  llvm::Value* Compare(NodeId a, NodeId b, bool or_equal);
  // Adds the condition 0 <= index < extent to the set. A bound that always
  // holds, according to the ranges of the nodes, adds nothing.
  void AddInBounds(NodeId index, NodeId extent, LaneSet& set);
  // Returns the set as a vector of lanes x i1.
  llvm::Value* MaskOf(const LaneSet& set);

 private:
  // AddNotBelow adds the condition index >= bound to the set, AddBelow adds
  // index < bound.
  void AddNotBelow(const LinearIndex& index, llvm::Value* bound, LaneSet& set);
  void AddBelow(const LinearIndex& index, llvm::Value* bound, LaneSet& set);
  llvm::Value* ClampedDifference(llvm::Value* a, llvm::Value* b);
  // Returns the node's value for use as a bound. A value so large that
  // arithmetic on it might overflow is clamped to a bound that no index
  // reaches.
  llvm::Value* BoundOf(NodeId id);
  // Returns the node's value for use as an extent: max(value, 0).
  llvm::Value* ExtentOf(NodeId id);
  bool IsLaneStep(NodeId id, LinearIndex& index);
  // Finds an index that moves by one per lane and has the same bounds as `id`:
  // sets `index` to rest + lane or rest - lane, without wrapping, and returns a
  // number n such that 0 <= id < extent is equivalent to 0 <= index < extent *
  // n. Returns 0 if there is none.
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
