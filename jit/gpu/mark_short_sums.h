// Says in the nest which updates by products must round once, because they add
// up short sums (loops::Store::rounds_once), for devices whose fused
// multiply-adds round twice.
//
//   EMBER_RETURN_IF_ERROR(MarkShortSums(device, nest));
//
//   for k < 3 { %y[i] += %x[i, k] * %w[k] }
//     // becomes: for k < 3 { once %y[i] += %x[i, k] * %w[k] }
//
// All schedules and back ends compute a short sum in order, so its bits are the
// same wherever each step rounds once. Equal bits matter where the next
// operation is a step function, such as the rounding of a color to an integer:
// it makes a large difference of a small one.
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_MARK_SHORT_SUMS_H_
#define EMBER_JIT_GPU_MARK_SHORT_SUMS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks updates of f32. Never fails.
Status MarkShortSums(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_MARK_SHORT_SUMS_H_
