// Axes as models write them: from the front, or negative, from the end.
//
//   NormalizedAxis(builder, -1, 4)   // 3
//
// What is no axis is an error of the graph builder, and then 0.
#ifndef EMBER_FRONTENDS_OPS_AXES_H_
#define EMBER_FRONTENDS_OPS_AXES_H_

#include <cstdint>

#include "compiler/graph/builder.h"

namespace ember::ops {

int NormalizedAxis(graph::GraphBuilder& builder, int64_t axis, int rank);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_AXES_H_
