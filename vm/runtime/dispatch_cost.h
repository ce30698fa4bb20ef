// What a dispatch will take for given parameters, before anything is allocated
// or run: for limits.
#ifndef EMBER_VM_RUNTIME_DISPATCH_COST_H_
#define EMBER_VM_RUNTIME_DISPATCH_COST_H_

#include <cstdint>
#include <span>

#include "tensor/dispatch.h"

namespace ember::vm {

struct DispatchCost {
  int64_t points = 0;  // of the largest stage: the product of its axes' extents
  int64_t temporary_bytes = 0;  // of all temporaries
};

// Numbers too large for int64 are INT64_MAX. The dispatch has passed
// tensor::Verify; negative extents count as 0 (Plan::Make refuses them).
DispatchCost CostOf(const tensor::Dispatch& dispatch,
                    std::span<const int64_t> parameters);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_COST_H_
