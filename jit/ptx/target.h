// Describes the features of a device that PTX code may use. They are read from
// the device's target string, which hal/cuda/properties.h defines.
//
//   Target target = Target::Of("sm_90a+subgroup32+shared232448+invocations1024");
//   target.processor;      // "sm_90a", as LLVM names it
//   target.shared_bytes;   // 232448
//
// A value.
#ifndef EMBER_JIT_PTX_TARGET_H_
#define EMBER_JIT_PTX_TARGET_H_

#include <string>
#include <string_view>

#include "jit/gpu/device_traits.h"

namespace ember::jit::ptx {

struct Target : gpu::DeviceTraits {
  std::string text;  // the target string from which the other fields were read
  // Number of the GPU's architecture: ten times the compute capability, such as
  // 90 for sm_90.
  int architecture = 70;
  // The newest architecture that LLVM knows and whose code runs on the device,
  // and the PTX version that its kernels need.
  std::string processor = "sm_70";
  std::string version = "+ptx63";
  // True if the code is for the emulated grid of this process instead of a GPU.
  bool is_emulated = false;

  static Target Of(std::string_view target);
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_TARGET_H_
