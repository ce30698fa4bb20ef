// The bounds of slices with Python's rules: a bound below 0 counts from the end
// of the axis, and places outside of the axis are clamped to it.
//
//   ClampedBound(1, n);    // x[1:] begins at min(1, n)
//   ClampedBound(-1, n);   // x[:-1] ends at n - min(n, 1)
//
// Open extents may be 0. The results are written with the minimum of the extent
// and a number, so that x[:k] and x[k:] have n elements together.
#ifndef EMBER_FRONTENDS_OPS_SLICE_BOUNDS_H_
#define EMBER_FRONTENDS_OPS_SLICE_BOUNDS_H_

#include <cstdint>

#include "compiler/graph/dim.h"

namespace ember::ops {

// Returns the position to which a bound refers, plus `shift` (0 or 1), clamped
// to 0 … extent. Slices with a negative step use a shift of 1, because they end
// after a position.
graph::Dim ClampedBound(const graph::Dim& bound, const graph::Dim& extent,
                        int64_t shift = 0);

struct SliceRange {
  graph::Dim start;
  graph::Dim size;
};

// Returns the slice [start, end) with a step of at least 1.
SliceRange ForwardSlice(const graph::Dim& start, const graph::Dim& end,
                        int64_t step, const graph::Dim& extent);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_SLICE_BOUNDS_H_
