// Limits of the commands on a device. A command beyond a limit is refused when
// it is recorded.
#ifndef EMBER_HAL_DEVICE_LIMITS_H_
#define EMBER_HAL_DEVICE_LIMITS_H_

#include <array>
#include <climits>
#include <cstdint>

namespace ember::hal {

struct DeviceLimits {
  // Largest number of chunks along each dimension, for every driver. The
  // product of three such numbers cannot overflow.
  static constexpr int64_t kMaxChunks = int64_t{1} << 20;

  // True if the device accesses host-visible memory as fast as any other
  // memory, so that copies to device-local memory are useless.
  bool shares_memory = true;
  // Number of bytes of which the offset of a range that is bound to a kernel
  // must be a multiple.
  int64_t binding_alignment = 1;
  // Largest number of bytes of a range that is bound to a kernel.
  int64_t binding_bytes = INT64_MAX;
  int binding_count = INT_MAX;
  int parameter_count = INT_MAX;
  // Largest number of tensor maps of an executable; 0 if the device does not
  // support them. If it supports them, binding_alignment is a multiple of the
  // 16 bytes that they require.
  int map_count = 0;
  std::array<int64_t, 3> chunks = {kMaxChunks, kMaxChunks, kMaxChunks};
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_LIMITS_H_
