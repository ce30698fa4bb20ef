
#include "jit/schedule/core/facts.h"

#include <algorithm>
#include <optional>

#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {

using tensor::Interval;
using tensor::LinearSum;
using tensor::LinearTerm;

bool Facts::DifferenceIsAtLeast(NodeId a, NodeId b, int64_t low) const {
  if (a == b) return low <= 0;
  std::optional<LinearSum> difference = tensor::Linearize(pool_, a);
  const std::optional<LinearSum> other = tensor::Linearize(pool_, b);
  if (!difference || !other) return false;
  tensor::AddLinear(*difference, *other, -1);
  const Interval range = tensor::RangeOfLinear(pool_, *difference);
  return !range.IsFull() && range.low >= low;
}

bool Facts::Has(NodeId a, NodeId b) const {
  return std::ranges::find(facts_, std::pair(a, b)) != facts_.end();
}

bool Facts::IsBelow(NodeId a, NodeId b) const {
  if (pool_[a].range.high < pool_[b].range.low) return true;
  if (tensor::ProvablyInBounds(pool_, a, b)) return true;
  if (DifferenceIsAtLeast(b, a, 1)) return true;
  return std::any_of(facts_.begin(), facts_.end(),
                     [&](const auto& fact) {
                       return DifferenceIsAtLeast(fact.first, a, 0) &&
                              DifferenceIsAtLeast(b, fact.second, 0);
                     }) ||
         IsBelowByMultiples(a, b);
}

// True if, for one of the known facts first < second, b - a - 1 = c * (second -
// first - 1) + rest with a rest that is provably not negative, so that a < b
// follows. The factor c > 0 is chosen so that one term cancels.
bool Facts::IsBelowByMultiples(NodeId a, NodeId b) const {
  const std::optional<LinearSum> goal = Gap(a, b);
  if (!goal) return false;
  for (const auto& [first, second] : facts_) {
    const std::optional<LinearSum> fact = Gap(first, second);
    if (!fact) continue;
    for (const LinearTerm& term : fact->terms) {
      const auto same =
          std::ranges::find(goal->terms, term.node, &LinearTerm::node);
      if (same == goal->terms.end() || same->coefficient == INT64_MIN ||
          same->coefficient % term.coefficient != 0)
        continue;
      const int64_t multiple = same->coefficient / term.coefficient;
      if (multiple <= 0) continue;
      LinearSum rest = *goal;
      tensor::AddLinear(rest, *fact, -multiple);
      const Interval range = tensor::RangeOfLinear(pool_, rest);
      if (!range.IsFull() && range.low >= 0) return true;
    }
  }
  return false;
}

// Returns the sum b - a - 1, which is not negative if a < b; nullopt if a or b
// is no linear sum.
std::optional<LinearSum> Facts::Gap(NodeId a, NodeId b) const {
  std::optional<LinearSum> gap = tensor::Linearize(pool_, b);
  const std::optional<LinearSum> other = tensor::Linearize(pool_, a);
  if (!gap || !other) return std::nullopt;
  tensor::AddLinear(*gap, *other, -1);
  tensor::AddLinear(*gap, {{}, 1}, -1);
  return gap;
}

bool Facts::IsNotNegative(NodeId a) const {
  if (pool_[a].range.low >= 0) return true;
  const std::optional<LinearSum> sum = tensor::Linearize(pool_, a);
  return sum && tensor::RangeOfLinear(pool_, *sum).low >= 0;
}

}  // namespace ember::schedule
