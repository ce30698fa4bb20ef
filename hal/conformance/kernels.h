// Kernels for the conformance tests. Each kernel has a version for every
// executable format that a driver supports.
//
//   KernelCode scale(Kernel::kScale, "spirv");
//   device.LoadExecutable(scale.definition());
#ifndef EMBER_HAL_CONFORMANCE_KERNELS_H_
#define EMBER_HAL_CONFORMANCE_KERNELS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "hal/executable.h"

namespace ember::hal {

enum class Kernel : uint8_t {
  // A kernel that multiplies: out[chunk] = in[chunk] * parameter. Its two
  // bindings are `in` and `out`, both of 32-bit integers, and it has one
  // parameter. A chunk's number is x + y * chunks.x + z * chunks.x * chunks.y.
  kScale,
  // A kernel without bindings and parameters, which does nothing.
  kNothing,
};

inline constexpr std::string_view kFormats[] = {
    "host-function", "spirv", "ptx", "emulated-grid", "opencl-c", "msl"};

class KernelCode {
 public:
  // Makes the code of a kernel in one of the formats of kFormats.
  KernelCode(Kernel kernel, std::string_view format);
  // Returns the definition for LoadExecutable. It is valid as long as this
  // object exists.
  const ExecutableDefinition& definition() const { return definition_; }

 private:
  std::vector<uint32_t> words_;
  std::vector<uint8_t> image_;
  ExecutableDefinition definition_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_CONFORMANCE_KERNELS_H_
