// Says in the nest which elements are loaded and stored together, as vectors
// (loops::IsVectorWidth), for devices whose code does that only where the nest
// says so.
//
//   EMBER_RETURN_IF_ERROR(MarkVectors(device, nest));
//
//   vector l < 4 { %y[i * 4 + l] = %x[i * 4 + l] + %b[l * 2] }
//     // becomes: vector l < 4 {
//     //   vec4 %y[i * 4 + l] = vec4(%x[i * 4 + l]) + %b[l * 2]
//     // }
//
// Both factors of a dot loop are words of four bytes, or vectors of such words.
// Where that is not proved, or the device has no dot products, the loop becomes
// an unrolled one.
//
//   dot q < 4 { %y[l] += i32(vec8(%a[k * 8 + j * 4 + q])) * i32(vec4(%b[l, q])) }
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_MARK_VECTORS_H_
#define EMBER_JIT_GPU_MARK_VECTORS_H_

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Marks loads and stores of a nest whose buffers are placed. Never fails.
Status MarkVectors(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_MARK_VECTORS_H_
