// Chooses the asynchronous stores that a device executes as asynchronous
// copies. The others become ordinary stores, and a device without such copies
// needs no awaits.
//
//   EMBER_RETURN_IF_ERROR(ChooseAsynchronousCopies(device, nest));
//
//   vector v < 4 { async %a[i * 4 + v] = %x[i * 4 + v] }   // stays: 16 bytes
//   vector v < 4 { async %a[i * 4 + v] = %x[i * 5 + v] }   // not aligned
//
// An asynchronous copy (cp.async of CUDA) moves 4, 8 or 16 bytes from the
// device's memory to the workgroup's. Source and destination must each begin at
// a multiple of that size, which this pass proves. An emitter still executes a
// copy as an ordinary store if the lanes of a vector are not neighbours, or if
// some are outside of a padded buffer and others are not.
//
// Phases in which a producer copies boxes (jit/gpu/warp_roles.h) stay as they
// are. Thread-safe.
#ifndef EMBER_JIT_GPU_ASYNCHRONOUS_COPIES_H_
#define EMBER_JIT_GPU_ASYNCHRONOUS_COPIES_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Chooses the copies in all phases of a nest whose buffers are placed and that
// has its barriers. Never fails.
Status ChooseAsynchronousCopies(const DeviceTraits& device,
                                loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_ASYNCHRONOUS_COPIES_H_
