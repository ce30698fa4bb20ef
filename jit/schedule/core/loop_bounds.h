// Finds the smallest and the largest value of an index in the body of a loop.
//
//   for i < 4 { for j < min(8, t + i) { ... i * 8 + j ... } }
//
// If i and j change within the body and t does not, i * 8 + j is at most 24 +
// min(8, t + 3) - 1. A bound is an expression over variables that do not
// change. It need not be reached. Internal to schedules and lowering.
#ifndef EMBER_JIT_SCHEDULE_CORE_LOOP_BOUNDS_H_
#define EMBER_JIT_SCHEDULE_CORE_LOOP_BOUNDS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "tensor/builder/expression_pool.h"
#include "tensor/builder/linear.h"

namespace ember::schedule {

using tensor::NodeId;

class LoopBounds {
 public:
  // Largest value of an index term for which bounds are derived from its range.
  // A loop that covers more elements is not worth a temporary for its part.
  static constexpr int64_t kLargestDigit = int64_t{1} << 20;

  // moving: the variables that change within the body. `moving` and `pool` must
  // outlive the object.
  LoopBounds(const std::set<NodeId>& moving, tensor::ExpressionPool& pool)
      : moving_(moving), pool_(pool) {}

  // True if the expression depends on a variable in `moving`, or on a load,
  // whose value is not known.
  bool Moves(NodeId root) const;

  // Return the largest and the smallest value of the i64 expression, as an
  // expression over variables that do not change within the body; nullopt if no
  // bound is known. The bound need not be reached.
  std::optional<NodeId> Largest(NodeId index) { return Bound(index, true); }
  std::optional<NodeId> Smallest(NodeId index) { return Bound(index, false); }

 private:
  std::optional<NodeId> Bound(NodeId index, bool is_largest);
  std::optional<NodeId> BoundOfTerm(NodeId term, bool is_largest);
  NodeId Make(tensor::Opcode opcode, NodeId a, NodeId b);

  const std::set<NodeId>& moving_;
  tensor::ExpressionPool& pool_;
};

// Narrows the ranges of parameters by the ranges of extents, which are from 0
// to tensor::kMaxExtent in every call. For example, an extent p + 6 implies
// that p is at least -6.
void RefineParameters(std::span<const NodeId> extents,
                      tensor::ExpressionPool& pool);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_LOOP_BOUNDS_H_
