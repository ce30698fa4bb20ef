// The facts that hold at a place in a loop nest in addition to the ranges of
// variables: the conditions of the Ifs and Checks around that place. Internal
// to schedules and lowering.
//
//   Facts facts(pool);
//   facts.Add(i0 * 16 + 15, n);             // i0 * 16 + 15 < n
//   facts.IsBelow(i0 * 16 + i1, n);         // true for i1 < 16
//   facts.IsBelow(i0 * 32 + i1, n * 2);     // true for i1 < 32
//   facts.Truncate(0);                      // behind the If: forgets the fact
#ifndef EMBER_JIT_SCHEDULE_CORE_FACTS_H_
#define EMBER_JIT_SCHEDULE_CORE_FACTS_H_

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "tensor/builder/expression_pool.h"
#include "tensor/builder/linear.h"

namespace ember::schedule {

using tensor::NodeId;

class Facts {
 public:
  // Makes an empty list of facts. The pool must outlive it.
  explicit Facts(const tensor::ExpressionPool& pool) : pool_(pool) {}

  // Adds the fact a < b. Both are i64.
  void Add(NodeId a, NodeId b) { facts_.push_back({a, b}); }
  size_t size() const { return facts_.size(); }
  void Truncate(size_t size) { facts_.resize(size); }

  // True if the fact a < b was added in exactly this form.
  bool Has(NodeId a, NodeId b) const;
  // Return true if the facts and the ranges of variables prove a < b, or 0 <=
  // a.
  bool IsBelow(NodeId a, NodeId b) const;
  bool IsNotNegative(NodeId a) const;

 private:
  // True if the ranges of variables prove low <= a - b.
  bool DifferenceIsAtLeast(NodeId a, NodeId b, int64_t low) const;
  bool IsBelowByMultiples(NodeId a, NodeId b) const;
  std::optional<tensor::LinearSum> Gap(NodeId a, NodeId b) const;

  const tensor::ExpressionPool& pool_;
  std::vector<std::pair<NodeId, NodeId>> facts_;
};

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_FACTS_H_
