// Limits of commands on a device. Recording refuses commands beyond them.
#ifndef EMBER_HAL_DEVICE_LIMITS_H_
#define EMBER_HAL_DEVICE_LIMITS_H_

#include <array>
#include <climits>
#include <cstdint>

namespace ember::hal {

struct DeviceLimits {
  // Largest number of chunks per dimension for every driver: the product of
  // three cannot overflow.
  static constexpr int64_t kMaxChunks = int64_t{1} << 20;

  // True if host-visible memory is as good for the device as any, so that
  // copies are useless.
  bool shares_memory = true;
  // Alignment in bytes of the offset of a bound range.
  int64_t binding_alignment = 1;
  // Largest number of bytes of a bound range.
  int64_t binding_bytes = INT64_MAX;
  int binding_count = INT_MAX;
  int parameter_count = INT_MAX;
  // Largest number of tensor maps of an executable; 0 if the device has none.
  // If it has some, binding_alignment is a multiple of the 16 bytes that they
  // require.
  int map_count = 0;
  std::array<int64_t, 3> chunks = {kMaxChunks, kMaxChunks, kMaxChunks};
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_LIMITS_H_
