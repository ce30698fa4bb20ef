// Computes ranges of a nest's integer values (such as indices) in one call,
// while some loops iterate and the others are at their first iteration.
//
//   const ValueRanges ranges(nest, parameters);
//   ranges.Of(extent);                            // all loops iterate
//   ranges.Of(i * 16 + j, [&](NodeId axis) { return axis == j; });  // {0, 15}
//
// Refers to the nest, which must outlive it. Internal to NestFeatures.
// Thread-safe.
#ifndef EMBER_TUNE_MODEL_VALUE_RANGES_H_
#define EMBER_TUNE_MODEL_VALUE_RANGES_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "tensor/interval.h"

namespace ember::tune {

class ValueRanges {
 public:
  // Returns true if `variable` is the variable of a loop that iterates.
  using Iterates = std::function<bool(loops::NodeId variable)>;

  ValueRanges(const loops::LoopNest& nest, std::span<const int64_t> parameters)
      : nest_(nest), parameters_(parameters.begin(), parameters.end()) {}

  tensor::Interval Of(loops::NodeId value) const;
  tensor::Interval Of(loops::NodeId value, const Iterates& iterates) const;

 private:
  const loops::LoopNest& nest_;
  const std::vector<int64_t> parameters_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_VALUE_RANGES_H_
