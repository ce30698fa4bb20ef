// The features of a device that OpenCL C may use, read from its target string,
// which hal/opencl/properties.h defines.
//
//   Target target = Target::Of("opencl3.0+f64+subgroup32+shared32768");
//   target.f64;            // true
//   target.shared_bytes;   // 32768
//
// A value.
#ifndef EMBER_JIT_OPENCL_TARGET_H_
#define EMBER_JIT_OPENCL_TARGET_H_

#include <string_view>

#include "jit/gpu/device_traits.h"

namespace ember::jit::opencl {

struct Target : gpu::DeviceTraits {
  bool f64 = false;
  static Target Of(std::string_view target);
};

}  // namespace ember::jit::opencl

#endif  // EMBER_JIT_OPENCL_TARGET_H_
