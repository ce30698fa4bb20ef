// What commands on a device must keep to. Recording refuses what does not.
#ifndef EMBER_HAL_DEVICE_LIMITS_H_
#define EMBER_HAL_DEVICE_LIMITS_H_

#include <array>
#include <climits>
#include <cstdint>

namespace ember::hal {

struct DeviceLimits {
  // Of any driver, per dimension: the product of three cannot overflow.
  static constexpr int64_t kMostChunks = int64_t{1} << 20;

  // Host-visible memory is as good for the device as any: no copies are wanted.
  bool shares_memory = true;
  // Of the offset of a bound range.
  int64_t binding_alignment = 1;
  // Of the length of a bound range.
  int64_t binding_bytes = INT64_MAX;
  int binding_count = INT_MAX;
  int parameter_count = INT_MAX;
  // Tensor maps of an executable; 0: the device has none. Where it has some,
  // binding_alignment is a multiple of the 16 bytes that they want.
  int map_count = 0;
  std::array<int64_t, 3> chunks = {kMostChunks, kMostChunks, kMostChunks};
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_LIMITS_H_
