// The properties of an OpenCL device that the driver and code for the device
// depend on, and the device's target text.
//
//   EMBER_ASSIGN_OR_RETURN(const DeviceProperties properties,
//                          QueryProperties(cl, platform, device));
//   properties.Target();
//   // "opencl3.0+cpu+f64+subgroup8+shared524288+invocations4096"
//
// A target is "openclMAJOR.MINOR", the version of the device; then `cpu` if the
// device is a CPU, and `f64` if it has doubles; then three values, as in
// targets of Vulkan (hal/vulkan/features.h): subgroupN (the number of
// invocations that advance together, for schedules; no code depends on it),
// sharedN (largest number of bytes of a workgroup's memory), invocationsN
// (largest number of invocations of a workgroup).
//
// Values.
#ifndef EMBER_HAL_OPENCL_PROPERTIES_H_
#define EMBER_HAL_OPENCL_PROPERTIES_H_

#include <array>
#include <cstdint>
#include <string>

#include "base/status.h"
#include "hal/device_limits.h"
#include "hal/opencl/api/functions.h"

namespace ember::hal::opencl {

struct DeviceProperties {
  std::string name;
  std::string vendor;
  std::string driver_version;
  std::string platform_version;
  std::string version;  // text of the device: "OpenCL 3.0 PoCL HSTR: …"
  std::string profile;  // "FULL_PROFILE" or "EMBEDDED_PROFILE"
  int major = 0;        // first number of the version; 0 if the text has none
  int minor = 0;
  bool is_cpu = false;
  bool is_gpu = false;
  bool is_available = false;
  bool has_compiler = false;
  bool is_little_endian = false;
  bool has_f64 = false;
  // True if programs may ask for quotients and square roots of f32 that are
  // rounded correctly. If false, they may be wrong in the last places.
  bool rounds_quotients = false;
  // True if the host and the device share memory at the same addresses, without
  // calls that map it (fine-grained buffers of shared virtual memory).
  bool has_shared_addresses = false;
  // True if the device uses the host's memory and has no memory of its own.
  bool is_unified = false;
  int64_t memory_bytes = 0;
  int64_t allocation_bytes = 0;  // largest number of bytes of a buffer
  int64_t shared_bytes = 0;  // largest number of bytes of a workgroup's memory
  // Largest number of bytes of a kernel's arguments.
  int64_t argument_bytes = 0;
  int64_t invocations = 0;  // largest number of invocations in a workgroup
  // Largest number of invocations in a workgroup along x, y and z.
  std::array<int64_t, 3> workgroup = {};
  int64_t subgroup_size = 0;

  std::string Target() const;
  // separate_memory: DeviceOptions::separate_memory.
  DeviceLimits Limits(bool separate_memory) const;
  // Returns "", or why the driver cannot use the device: "expected …, found …".
  std::string WhatItLacks() const;
};

// Bytes of a kernel's arguments: a binding takes an address and an offset, a
// parameter a number.
inline constexpr int64_t kBindingArgumentBytes = 16;
inline constexpr int64_t kParameterArgumentBytes = 8;

StatusOr<DeviceProperties> QueryProperties(const Functions& cl,
                                           cl_platform_id platform,
                                           cl_device_id device);

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_PROPERTIES_H_
