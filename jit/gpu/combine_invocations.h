// Writes in statements how invocations combine their values where all of them
// update one element (jit/loops/analysis/combining.h): subgroups combine theirs
// (loops::Combining), or halves of the invocations do so repeatedly, in memory
// of the workgroup. Then the first invocation updates the element.
//
//   EMBER_RETURN_IF_ERROR(CombineInvocations(device, nest));
//
//   invocation i < 256 { %y[t] += %r[i] }
//     // becomes, for subgroups of 32:
//   invocation i < 256 subgroup s < 8 of 32 { subgroup_sum %parts[s] = %r[i] }
//   first {
//     %total[] = %parts[0]
//     unroll p < 7 { %total[] += %parts[p + 1] }
//     %y[t] += %total[]
//   }
//     // or, without subgroups that combine:
//   invocation i < 256 { %parts[i] = %r[i] }
//   invocation h < 128 { %parts[h] += %parts[h + 128] }
//   …
//   first { %parts[0] += %parts[1] %y[t] += %parts[0] }
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_COMBINE_INVOCATIONS_H_
#define EMBER_JIT_GPU_COMBINE_INVOCATIONS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Replaces all loops in which invocations update the same element, in a nest
// whose buffers are not placed yet. Never fails.
Status CombineInvocations(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_COMBINE_INVOCATIONS_H_
