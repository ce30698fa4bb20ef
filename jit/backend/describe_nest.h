// Makes the image of a loop nest without its code: buffers, phases, and the
// formulas for extents and numbers of tasks.
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

// Returns the image of a nest, without code. Extents and numbers of tasks must
// depend on constants and parameters only (a check).
vm::KernelImage DescribeNest(const loops::LoopNest& nest);

// Does the same as DescribeNest for a nest that was made for the request. Adds
// the request's target, tier and shape, the error growth, and which inputs may
// be overwritten.
vm::KernelImage DescribeKernel(const vm::KernelRequest& request,
                               const loops::LoopNest& nest,
                               double error_growth);

// Makes the complete image: with the code of the nest, and with the formulas
// for the number of loop iterations if the device limits it.
vm::KernelImage ImageOf(const vm::KernelRequest& request,
                        const loops::LoopNest& nest, double error_growth,
                        vm::KernelCode code);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_DESCRIBE_NEST_H_
