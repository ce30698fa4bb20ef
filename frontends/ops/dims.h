// Functions of dims beyond their algebra: bounds, clamping that yields no min
// or max if the bounds decide, and exact division of element counts.
//
//   RangeOf(n - 1).low == -1   // a symbol is at least 0
#ifndef EMBER_FRONTENDS_OPS_DIMS_H_
#define EMBER_FRONTENDS_OPS_DIMS_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/graph/dim.h"

namespace ember::ops {

// Inclusive bounds; the extremes of int64 mean that there is no bound.
struct DimRange {
  static constexpr int64_t kNoLow = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoHigh = std::numeric_limits<int64_t>::max();
  int64_t low = kNoLow;
  int64_t high = kNoHigh;
};

DimRange RangeOf(const graph::Dim& dim);
bool IsNonNegative(const graph::Dim& dim);

// These functions return min(a, b) and max(a, b). If the range of a - b shows
// which one is smaller, the result is a or b itself instead of an expression.
graph::Dim SmallerOf(const graph::Dim& a, const graph::Dim& b);
graph::Dim LargerOf(const graph::Dim& a, const graph::Dim& b);

// Returns the quotient of two products of dims, product(whole) /
// product(parts). Equal dims cancel. Returns nullopt if the divisor that
// remains is 0, or if both numbers that remain are constants and do not divide.
std::optional<graph::Dim> DivideElementCounts(const graph::Shape& whole,
                                              const graph::Shape& parts);

// Returns the dims if all are constants, else nullopt.
std::optional<std::vector<int64_t>> AsConstants(const graph::Shape& dims);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_DIMS_H_
