// Marks the roles of warps in phases with a producer (jit/gpu/warp_roles.h):
// the rings of the workgroup and the barriers of their slots, the statements
// that only the producer executes, and the copies of boxes. Adds the steps of
// slots. Also says if the producer is a warp of its own, and if the kernel is
// persistent.
//
//   EMBER_RETURN_IF_ERROR(SpecialiseWarps(device, nest));
//
//   invocation i < 128 { … async %a[mod(k + 2, 4), …] = … }
//   subgroup s < 4 { … %a[mod(k, 4), …] … }
//     // becomes
//   producer fill ring 0 slot mod(k + 2, 4)
//   producer box 0 … invocation i < 128 { … }
//   subgroup s < 4 {
//     await ring 0 slot mod(k, 4) … release ring 0 slot mod(k, 4)
//   }
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_SPECIALISE_WARPS_H_
#define EMBER_JIT_GPU_SPECIALISE_WARPS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks all phases of a nest whose buffers are placed
// (jit/gpu/place_buffers.h). A phase that has rings stays as it is. Never
// fails.
Status SpecialiseWarps(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_SPECIALISE_WARPS_H_
