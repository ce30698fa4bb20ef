// The CUDA driver; hal/cuda/README.md describes how the HAL maps to CUDA, and
// the limits.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateCudaDevice(0, {}));
//
// Executable formats: "ptx" and "cubin"; "emulated-grid" on the emulated
// device. Environment: EMBER_CUDA_LIBRARY names a library other than
// libcuda.so.1; EMBER_CUDA_EMULATE describes the emulated device
// (emulated/emulated_cuda.h).
#ifndef EMBER_HAL_CUDA_DEVICE_H_
#define EMBER_HAL_CUDA_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// Creates a device. `index` is its number in the list of devices. Returns
// NotFound if there is no CUDA driver or no such device; the message says what
// is missing.
StatusOr<std::shared_ptr<Device>> CreateCudaDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListCudaDevices();

// Creates a device whose GPU is emulated in this process. It runs the same
// driver code and needs no hardware: kernels run thread by thread on one
// processor, and each of their memory accesses is checked.
StatusOr<std::shared_ptr<Device>> CreateEmulatedCudaDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListEmulatedCudaDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_CUDA_DEVICE_H_
