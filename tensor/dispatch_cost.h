// Estimates the cost of a dispatch for given parameters before anything is
// allocated or run. Limits of runs, and of constant folding in the compiler,
// use it.
#ifndef EMBER_TENSOR_DISPATCH_COST_H_
#define EMBER_TENSOR_DISPATCH_COST_H_

#include <cstdint>

#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the number of points that a run evaluates: for each stage the product
// of its axes' extents, and for each temporary one point per line of 64 bytes,
// because it may have to be cleared. An extent of 0 counts as 1, because a
// kernel may iterate over the other axes around the empty one. INT64_MAX if the
// number is larger.
int64_t PointsOf(const Dispatch& dispatch, const ConcreteHeader& header);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_DISPATCH_COST_H_
