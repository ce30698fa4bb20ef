// The features of a device that MSL may use, read from its target string.
//
//   Target target = Target::Of("metal2.4+subgroup32+shared32768");
//   target.shared_bytes;   // 32768
//
// A target is "metalMAJOR.MINOR", the version of the language; then subgroupN,
// sharedN and invocationsN as in targets of Vulkan (hal/vulkan/features.h).
// A value.
#ifndef EMBER_JIT_METAL_TARGET_H_
#define EMBER_JIT_METAL_TARGET_H_

#include <string_view>

#include "jit/gpu/device_traits.h"

namespace ember::jit::metal {

struct Target : gpu::DeviceTraits {
  static Target Of(std::string_view target);
};

}  // namespace ember::jit::metal

#endif  // EMBER_JIT_METAL_TARGET_H_
