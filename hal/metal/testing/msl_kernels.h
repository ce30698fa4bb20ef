// Reads the kernels of a program of MSL: their names, and the arguments that
// their attributes name.
//
//   std::vector<MslKernel> kernels;
//   std::string problem = ReadKernels(source, kernels);
//   // "kernel void f(device uchar *a [[buffer(0)]])": f, buffers {0}
//
// It reads the headings that jit/metal and spirv-cross print, not all of MSL.
// Thread-safe.
#ifndef EMBER_HAL_METAL_TESTING_MSL_KERNELS_H_
#define EMBER_HAL_METAL_TESTING_MSL_KERNELS_H_

#include <string>
#include <string_view>
#include <vector>

#include "hal/metal/testing/msl_program.h"

namespace ember::hal::metal::fake {

// Sets all fields of the kernels except their functions. Returns an empty text,
// or an error that names the argument.
std::string ReadKernels(std::string_view source,
                        std::vector<MslKernel>& kernels);

// Returns the program with threadgroup arrays of functions made static, because
// all threads of a threadgroup share them. Threadgroups run one after another.
std::string WithSharedArrays(std::string_view source);

}  // namespace ember::hal::metal::fake

#endif  // EMBER_HAL_METAL_TESTING_MSL_KERNELS_H_
