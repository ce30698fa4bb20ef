#include "jit/schedule/facts.h"

#include <algorithm>
#include <optional>

#include "tensor/linear.h"
#include "tensor/simplify.h"

namespace ember::schedule {

using tensor::Interval;
using tensor::LinearSum;

bool Facts::DifferenceIsAtLeast(NodeId a, NodeId b, int64_t low) const {
  if (a == b) return low <= 0;
  std::optional<LinearSum> difference = tensor::Linearize(pool_, a);
  const std::optional<LinearSum> other = tensor::Linearize(pool_, b);
  if (!difference || !other) return false;
  tensor::AddLinear(*difference, *other, -1);
  const Interval range = tensor::RangeOfLinear(pool_, *difference);
  return !range.IsFull() && range.low >= low;
}

bool Facts::IsBelow(NodeId a, NodeId b) const {
  if (pool_[a].range.high < pool_[b].range.low) return true;
  if (tensor::ProvablyInBounds(pool_, a, b)) return true;
  if (DifferenceIsAtLeast(b, a, 1)) return true;
  return std::any_of(facts_.begin(), facts_.end(), [&](const auto& fact) {
    return DifferenceIsAtLeast(fact.first, a, 0) &&
           DifferenceIsAtLeast(b, fact.second, 0);
  });
}

bool Facts::IsNotNegative(NodeId a) const {
  if (pool_[a].range.low >= 0) return true;
  const std::optional<LinearSum> sum = tensor::Linearize(pool_, a);
  return sum && tensor::RangeOfLinear(pool_, *sum).low >= 0;
}

}  // namespace ember::schedule
