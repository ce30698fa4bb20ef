// The passes that make a device nest of a nest, in their order. Each changes a
// legalised nest and leaves one that verifies, prints and parses
// (jit/loops/loop_nest.h); doing a pass twice changes nothing.
//
//   EMBER_RETURN_IF_ERROR(MakeDeviceNest(ptx::Target::Of("sm_80"), nest));
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_DEVICE_PASSES_H_
#define EMBER_JIT_GPU_DEVICE_PASSES_H_

#include <span>
#include <string_view>

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct DevicePass {
  std::string_view name;
  std::string_view doc;
  Status (*run)(const DeviceTraits& device, loops::LoopNest& nest);
};

// Returns the passes for all devices.
std::span<const DevicePass> DevicePasses();

// Runs all passes. Errors: the reason of a pass to decline, with the nest's
// name.
Status MakeDeviceNest(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_PASSES_H_
