#include "frontends/ops/slice_bounds.h"

#include <limits>

#include "frontends/ops/dims.h"

namespace ember::ops {

using graph::Dim;

Dim ClampedBound(const Dim& bound, const Dim& extent, int64_t shift) {
  // Exporters write the extremes of int32 and int64 for "to the end". A bound
  // beyond kFar therefore means the end of the axis, whatever its extent.
  constexpr int64_t kFar = std::numeric_limits<int32_t>::max() / 2;
  const auto from_end = [&](int64_t count) {
    return extent - SmallerOf(extent, Dim(count - shift));
  };
  if (bound.is_constant()) {
    const int64_t at = bound.constant();
    if (at >= kFar) return extent;
    if (at <= -kFar) return Dim(0);
    return at < 0 ? from_end(-at) : SmallerOf(Dim(at + shift), extent);
  }
  // The bound extent - 1 is taken for -1, the last element. If the extent is 0,
  // it is -1 indeed; the result is 0 in this case, too.
  if (bound == extent) return extent;
  if (bound == extent - Dim(1)) return from_end(1);
  const DimRange range = RangeOf(bound);
  if (range.low >= 0) return SmallerOf(bound + Dim(shift), extent);
  Dim place = bound + extent;
  if (range.high >= 0) {
    // The sign of the bound is only known at run time. The factor min(1, max(0,
    // -bound)) is 1 if the bound is negative, so that the extent is added, else
    // 0.
    place =
        bound + extent * SmallerOf(Dim(1), LargerOf(Dim(0), Dim(0) - bound));
  }
  return LargerOf(SmallerOf(place + Dim(shift), extent), Dim(0));
}

SliceRange ForwardSlice(const Dim& start, const Dim& end, int64_t step,
                        const Dim& extent) {
  const Dim first = ClampedBound(start, extent);
  const Dim last = ClampedBound(end, extent);
  const Dim size = CeilDivide(last - first, Dim(step));
  bool is_ordered = first == Dim(0) || last == extent;
  if (start.is_constant() && end.is_constant() &&
      (start.constant() < 0) == (end.constant() < 0)) {
    // Start and end count from the same end of the axis, so their difference
    // decides which is first.
    if (end.constant() <= start.constant()) return {first, Dim(0)};
    is_ordered = true;
  }
  return {first, is_ordered ? size : LargerOf(size, Dim(0))};
}

}  // namespace ember::ops
