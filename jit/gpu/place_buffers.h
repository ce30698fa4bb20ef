// Gives the phases of a nest their workgroups (jit/loops/workgroup.h): how many
// invocations work on a task, and where each buffer is on the device.
//
//   EMBER_RETURN_IF_ERROR(PlaceBuffers(device, nest));
//
//   phase t < 64 {                        phase t < 64 {
//     invocation i < 256 { … %tile … }      workgroup 256 bytes 1024
//     …                                     shared %tile reads writes at 0
//                                           invocation i < 256 { … %tile … }
//                                           …
//
// Barriers that the nest already has do not matter. jit/gpu/insert_barriers.h
// completes the workgroups: it says which memory barriers must order, and adds
// what copies of boxes need. Thread-safe.
#ifndef EMBER_JIT_GPU_PLACE_BUFFERS_H_
#define EMBER_JIT_GPU_PLACE_BUFFERS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Places the buffers of all phases of the nest, which is legalised for the
// device. A nest whose buffers are placed stays as it is. Errors: kDeviceLimit
// if a phase needs more invocations, loop iterations or shared memory than the
// device has; kDeviceMatrix for matrix loops of types that the target does not
// list, or whose factors cannot be in the panels that they need.
Status PlaceBuffers(const DeviceTraits& device, loops::LoopNest& nest);

// Returns the workgroup that PlaceBuffers gives the phase.
StatusOr<loops::Workgroup> PlacePhase(const loops::LoopNest& nest,
                                      const loops::Phase& phase,
                                      const DeviceTraits& device);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PLACE_BUFFERS_H_
