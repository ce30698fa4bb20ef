// A kernel whose input is a texel buffer, for tests of the driver. Its bindings
// are `in` and `out`, both of 32-bit integers; a texel of `in` has 4 of them.
// It has no parameters and computes:
//   out[chunk] = in[4 * chunk + 2]
#ifndef EMBER_HAL_VULKAN_TESTING_TEXEL_KERNEL_H_
#define EMBER_HAL_VULKAN_TESTING_TEXEL_KERNEL_H_

#include <cstdint>
#include <vector>

#include "hal/executable.h"

namespace ember::hal::vulkan {

class TexelKernel {
 public:
  // Makes the kernel's code. `format` is the name of the texel format in the
  // text form of SPIR-V; the driver supports R32ui and Rgba32ui.
  explicit TexelKernel(const char* format = "Rgba32ui");
  // Returns the definition for LoadExecutable. It is valid as long as this
  // object exists.
  const ExecutableDefinition& definition() const { return definition_; }

 private:
  std::vector<uint32_t> words_;
  ExecutableDefinition definition_;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_TESTING_TEXEL_KERNEL_H_
