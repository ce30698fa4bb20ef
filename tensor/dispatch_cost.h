// What a dispatch will take for given parameters, before anything is allocated
// or run: for limits of runs, and of what the compiler computes itself.
#ifndef EMBER_TENSOR_DISPATCH_COST_H_
#define EMBER_TENSOR_DISPATCH_COST_H_

#include <cstdint>

#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Points that a run evaluates: of each stage, the product of its axes' extents,
// and of each temporary one per line of 64 bytes, as it may have to be cleared.
// An extent of 0 counts as 1, as a kernel may turn the loops of the other axes
// around the empty one. INT64_MAX if that is more.
int64_t PointsOf(const Dispatch& dispatch, const ConcreteHeader& header);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_DISPATCH_COST_H_
