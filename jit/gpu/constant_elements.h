// Counts the elements of a buffer that might be in memory of a workgroup or in
// registers, where extents have to be constants.
//
//   ConstantElements(nest, buffer)   // 64 for task %t: f32[8, 8], 0 for f32[N]
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_CONSTANT_ELEMENTS_H_
#define EMBER_JIT_GPU_CONSTANT_ELEMENTS_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

// Returns the number of elements of the buffer; 0 if it is not constant, or
// more than a workgroup could hold.
int64_t ConstantElements(const loops::LoopNest& nest,
                         const loops::Buffer& buffer);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_CONSTANT_ELEMENTS_H_
