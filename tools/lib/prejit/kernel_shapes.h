// Chooses the shapes for which vm-prejit makes kernels of a dispatch.
//
//   for (const std::vector<int64_t>& shape : ShapesOfKernels(profile))
//     Make(shape);
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_KERNEL_SHAPES_H_
#define EMBER_TOOLS_LIB_PREJIT_KERNEL_SHAPES_H_

#include <cstdint>
#include <vector>

#include "vm/isa/module_definition.h"

namespace ember::tools {

// Returns the recorded shapes. Three or more shapes of several parameters that
// differ in one parameter only, as those of a decoder that runs token by token,
// become one shape in which this parameter is tensor::kOpenParameter. Shapes
// without parameters are left out.
std::vector<std::vector<int64_t>> ShapesOfKernels(
    const vm::DispatchProfile& profile);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_KERNEL_SHAPES_H_
