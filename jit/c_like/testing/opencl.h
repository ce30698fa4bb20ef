// A table of OpenCL C for the shared printer, to show what the next language
// takes. It is no back end: there is no target, and nothing runs its code.
//
//   EMBER_ASSIGN_OR_RETURN(const std::string file, OpenClOf(nest, {}));
//   // "kernel … void product_phase0(global const float *b0_x, …) { … }"
//
// A kernel takes the buffers that are in the device's memory, in order, and
// then the parameters. A workgroup runs one task.
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_TESTING_OPENCL_H_
#define EMBER_JIT_C_LIKE_TESTING_OPENCL_H_

#include <string>

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

// Returns a file of OpenCL C with a kernel for each phase of the verified nest.
// Errors: kUnimplemented with a reason of jit/backend/decline_reasons.h for
// subgroups, combining loops, checked indices and buffers that a workgroup's
// memory does not hold; those of jit/gpu/device_passes.h.
StatusOr<std::string> OpenClOf(const loops::LoopNest& nest,
                               const gpu::DeviceTraits& device);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_TESTING_OPENCL_H_
