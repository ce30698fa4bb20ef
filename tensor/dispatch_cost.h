// Estimates the cost of a dispatch for given parameters before anything is
// allocated or run. The estimate is compared with limits on runs and on the
// compiler's constant folding.
#ifndef EMBER_TENSOR_DISPATCH_COST_H_
#define EMBER_TENSOR_DISPATCH_COST_H_

#include <cstdint>

#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Returns the number of points that a run evaluates: for each stage the product
// of its axes' extents, and for each temporary one point per line of 64 bytes,
// because it may have to be cleared. An extent of 0 counts as 1, because a
// kernel may still iterate over the axes outside of the empty one. The result
// is INT64_MAX if the number does not fit.
int64_t PointsOf(const Dispatch& dispatch, const ConcreteHeader& header);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_DISPATCH_COST_H_
