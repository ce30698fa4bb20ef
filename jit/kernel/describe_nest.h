// The image of a loop nest, but for its code: buffers, phases, and the formulas
// for extents and numbers of tasks.
//
//   vm::KernelImage image = DescribeNest(nest);
//   image.code = …;
//
// Thread-safe.
#ifndef EMBER_JIT_KERNEL_DESCRIBE_NEST_H_
#define EMBER_JIT_KERNEL_DESCRIBE_NEST_H_

#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"

namespace ember::jit {

// Extents and tasks depend on constants and parameters only (a check).
vm::KernelImage DescribeNest(const loops::LoopNest& nest);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_DESCRIBE_NEST_H_
