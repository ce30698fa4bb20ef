// The extent of two dims that broadcast, where the run decides which is 1.
#ifndef EMBER_FRONTENDS_OPS_REPEATED_EXTENT_H_
#define EMBER_FRONTENDS_OPS_REPEATED_EXTENT_H_

#include "compiler/graph/builder/builder.h"
#include "compiler/graph/dim.h"

namespace ember::ops {

// Returns `b` if `a` is 1, else `a`, as a symbol that the program computes. An
// expression of the dims would be taken to equal them where it is broadcast
// with them again. After an error of the builder, returns `a`.
graph::Dim RepeatedExtent(graph::GraphBuilder& builder, const graph::Dim& a,
                          const graph::Dim& b);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_REPEATED_EXTENT_H_
