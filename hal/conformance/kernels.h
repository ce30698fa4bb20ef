// Code for the tests, once per executable format. Each kernel has a version for
// every format that a driver takes.
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
  // Bindings in and out, of 32-bit integers; one parameter:
  //   out[chunk] = in[chunk] * parameter
  // A chunk's number is x + y * chunks.x + z * chunks.x * chunks.y.
  kScale,
  // A kernel without bindings and parameters, which does nothing.
  kNothing,
};

inline constexpr std::string_view kFormats[] = {"host-function", "spirv", "ptx",
                                                "emulated-grid"};

class KernelCode {
 public:
  // Makes the code of a kernel. `format` is one of kFormats.
  KernelCode(Kernel kernel, std::string_view format);
  // Returns the definition for LoadExecutable, which is valid as long as this
  // object.
  const ExecutableDefinition& definition() const { return definition_; }

 private:
  std::vector<uint32_t> words_;
  std::vector<uint8_t> image_;
  ExecutableDefinition definition_;
};

}  // namespace ember::hal

#endif  // EMBER_HAL_CONFORMANCE_KERNELS_H_
