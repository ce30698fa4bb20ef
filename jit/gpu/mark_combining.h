// Says in the nest how invocations combine their values where all of them
// update one element (jit/loops/analysis/combining.h).
//
//   EMBER_RETURN_IF_ERROR(MarkCombining(device, nest));
//
//   invocation i < 64 { %y[t] += %r[i] }
//     // becomes: invocation i < 64 { by_subgroups %y[t] += %r[i] }
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_MARK_COMBINING_H_
#define EMBER_JIT_GPU_MARK_COMBINING_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks the stores of all combining loops. Never fails.
Status MarkCombining(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_MARK_COMBINING_H_
