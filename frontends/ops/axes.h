// Normalizes axes as models write them: counted from the front or, if negative,
// from the end.
//
//   NormalizedAxis(builder, -1, 4)             // 3
//   DistinctAxes(builder, {-1, 0}, 4)          // {3, 0}
//   SortedAxes(builder, {-1, 0, 3}, 4)         // {0, 3}
//
// An axis out of range is an error of the graph builder; the result is then 0,
// or no axes.
#ifndef EMBER_FRONTENDS_OPS_AXES_H_
#define EMBER_FRONTENDS_OPS_AXES_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/builder/builder.h"

namespace ember::ops {

int NormalizedAxis(graph::GraphBuilder& builder, int64_t axis, int rank);

// Returns the axes in the given order; an axis that occurs twice is an error.
std::vector<int64_t> DistinctAxes(graph::GraphBuilder& builder,
                                  const std::vector<int64_t>& axes, int rank);

// Returns the axes in ascending order; an axis that occurs twice is returned
// once.
std::vector<int64_t> SortedAxes(graph::GraphBuilder& builder,
                                const std::vector<int64_t>& axes, int rank);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_AXES_H_
