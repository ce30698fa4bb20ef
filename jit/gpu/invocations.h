// Says how many invocations of a workgroup a phase needs.
//
//   InvocationsOf(nest, phase, device)   // 256
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_INVOCATIONS_H_
#define EMBER_JIT_GPU_INVOCATIONS_H_

#include <cstdint>

#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// True if any phase has a subgroup loop. Then all phases of the module need
// whole subgroups, as Vulkan's rules for matrices apply to all entry points.
bool HasSubgroupLoop(const loops::LoopNest& nest);

// Returns the number of invocations of the phase's largest loop over
// invocations, in whole subgroups if the device needs them or the nest has a
// subgroup loop; 0 if the phase has no such loop.
int64_t InvocationsOf(const loops::LoopNest& nest, const loops::Phase& phase,
                      const DeviceTraits& device);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_INVOCATIONS_H_
