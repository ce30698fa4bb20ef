// The image of a loop nest, but for its code: buffers, phases, and the formulas
// for extents and numbers of tasks.
//
//   vm::KernelImage image = DescribeNest(nest);
//   image.code = …;
//
// Thread-safe.
#ifndef EMBER_JIT_BACKEND_DESCRIBE_NEST_H_
#define EMBER_JIT_BACKEND_DESCRIBE_NEST_H_

#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// Extents and tasks depend on constants and parameters only (a check).
vm::KernelImage DescribeNest(const loops::LoopNest& nest);

// The same of a nest that was made for the request: with its target, tier and
// shape, and which inputs may be overwritten.
vm::KernelImage DescribeKernel(const vm::KernelRequest& request,
                               const loops::LoopNest& nest,
                               double error_growth);

// All of the image: with this code of the nest, and what that needs (iterations
// of loops, on devices that end them).
vm::KernelImage ImageOf(const vm::KernelRequest& request,
                        const loops::LoopNest& nest, double error_growth,
                        vm::KernelCode code);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_DESCRIBE_NEST_H_
