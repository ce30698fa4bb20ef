// What a dispatch will take for given parameters, before anything is allocated
// or run: for limits.
#ifndef EMBER_VM_RUNTIME_DISPATCH_COST_H_
#define EMBER_VM_RUNTIME_DISPATCH_COST_H_

#include <cstdint>

#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::vm {

// Points that a run evaluates: of each stage, the product of its axes' extents,
// and of each temporary one per line of 64 bytes, as it may have to be cleared.
// An extent of 0 counts as 1, as a kernel may turn the loops of the other axes
// around the empty one. INT64_MAX if that is more.
int64_t PointsOf(const tensor::Dispatch& dispatch,
                 const tensor::ConcreteHeader& header);

// ResourceExhausted: these points are more than the run may still evaluate.
Status TooManyPoints(const tensor::Dispatch& dispatch, int64_t points,
                     int64_t most);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_COST_H_
