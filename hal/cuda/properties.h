// The properties of a CUDA device, from which its target string and the HAL's
// limits are made.
//
//   EMBER_ASSIGN_OR_RETURN(const DeviceProperties properties,
//                          QueryProperties(cu, device, false));
//   properties.Target();   // "sm_80+subgroup32+shared166912+invocations1024+…"
//
// A target is the architecture ("sm_90a" for compute capability 9.0, where code
// may use instructions that only this architecture has), then "+emulated" for
// the emulated grid, then four values: subgroupN (threads of a warp), sharedN
// (most bytes of a block's memory), invocationsN (most threads of a block),
// processorsN (multiprocessors). It ends with "+tensor_maps" if dispatches may
// have tensor maps (compute capability 9.0 and a driver of CUDA 12). Code may
// be made for a target with an additional "+tf32" (JitOptions::allow_tf32),
// which no device reports. A value.
#ifndef EMBER_HAL_CUDA_PROPERTIES_H_
#define EMBER_HAL_CUDA_PROPERTIES_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "hal/cuda/api/functions.h"
#include "hal/device_limits.h"

namespace ember::hal::cuda {

struct DeviceProperties {
  std::string name;
  int major = 0;
  int minor = 0;
  bool is_emulated = false;
  bool has_memory_pools = false;
  bool has_tensor_maps = false;  // true if the driver has the function
                                 // cuTensorMapEncodeTiled
  int64_t memory_bytes = 0;
  int64_t warp_size = 32;
  int64_t processors = 1;
  int64_t block_threads = 1024;
  int64_t block_dims[3] = {1024, 1024, 64};
  int64_t grid_dims[3] = {2147483647, 65535, 65535};
  // Largest number of bytes of a block's shared memory; a kernel gets more than
  // static_shared_bytes only if it requests the size explicitly.
  int64_t shared_bytes = 48 << 10;
  int64_t static_shared_bytes = 48 << 10;

  std::string Target() const;
  DeviceLimits Limits() const;
};

// Returns the properties of a device. Errors: NotFound if the device is too old
// or lacks a feature that the driver needs.
StatusOr<DeviceProperties> QueryProperties(const Functions& cu, CUdevice device,
                                           bool is_emulated);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_PROPERTIES_H_
