// Says in the nest which statements only the first invocation of a task runs:
// stores to memory outside of loops over invocations, because all invocations
// share that memory. Neighbouring statements get one guard (`first`), and the
// stored values are computed under it.
//
//   EMBER_RETURN_IF_ERROR(GuardStores(device, nest));
//
//   { %sum[] = %tile[0] %y[t] = %tile[1] }    // %sum is in registers
//     // becomes
//   first { %y[t] = %tile[1] }
//   %sum[] = %tile[0]
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_GUARD_STORES_H_
#define EMBER_JIT_GPU_GUARD_STORES_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Guards the stores of all phases of a nest whose buffers are placed
// (jit/gpu/place_buffers.h). Never fails.
Status GuardStores(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_GUARD_STORES_H_
