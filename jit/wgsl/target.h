// The features of a WebGPU adapter that WGSL may use, read from its target
// string.
//
//   Target target =
//       Target::Of("webgpu+shared32768+invocations256+buffers10");
//   target.storage_buffers;   // 10
//
// A target is "webgpu", then sharedN (maxComputeWorkgroupStorageSize),
// invocationsN (the smaller one of maxComputeInvocationsPerWorkgroup and
// maxComputeWorkgroupSizeX) and buffersN (maxStorageBuffersPerShaderStage);
// limits that are left out are those that WebGPU guarantees. The features f16
// and subgroups may be in the text; code does not use them yet. A value.
#ifndef EMBER_JIT_WGSL_TARGET_H_
#define EMBER_JIT_WGSL_TARGET_H_

#include <cstdint>
#include <string_view>

#include "jit/gpu/device_traits.h"

namespace ember::jit::wgsl {

struct Target : gpu::DeviceTraits {
  // Largest number of storage buffers of an entry point. The record of a failed
  // check is one of them.
  int64_t storage_buffers = 8;

  static Target Of(std::string_view target);
};

}  // namespace ember::jit::wgsl

#endif  // EMBER_JIT_WGSL_TARGET_H_
