// The properties of a Metal device that the driver and code for the device
// depend on, and the device's target text.
//
//   const DeviceProperties properties(facts, /*subgroup_size=*/32);
//   properties.Target();
//   // "metal3.1+subgroup32+shared32768+invocations1024"
//
// A target is "metalMAJOR.MINOR", the newest version of MSL that the system
// compiles; then three values, as in targets of Vulkan (hal/vulkan/features.h):
// subgroupN (the number of threads that advance together, for schedules; no
// code depends on it), sharedN (largest number of bytes of threadgroup memory),
// invocationsN (largest number of threads of a threadgroup).
//
// Values.
#ifndef EMBER_HAL_METAL_PROPERTIES_H_
#define EMBER_HAL_METAL_PROPERTIES_H_

#include <array>
#include <cstdint>
#include <string>

#include "hal/device_limits.h"
#include "hal/metal/api/functions.h"

namespace ember::hal::metal {

struct DeviceProperties {
  DeviceProperties(const DeviceFacts& facts, uint64_t subgroup_size);

  std::string Target() const;
  // separate_memory: DeviceOptions::separate_memory.
  DeviceLimits Limits(bool separate_memory) const;

  std::string name;
  int64_t major = 0;  // the version of MSL
  int64_t minor = 0;
  bool is_unified = false;  // true if the device's memory is the host's
  int64_t memory_bytes = 0;
  int64_t allocation_bytes = 0;           // largest number of bytes of a buffer
  int64_t shared_bytes = 0;               // bytes of threadgroup memory
  std::array<int64_t, 3> workgroup = {};  // most threads along each dimension
  int64_t subgroup_size = 0;
};

// Returns "", or why the driver cannot use the device: "expected …, found …".
std::string WhatItLacks(const DeviceFacts& facts);

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_PROPERTIES_H_
