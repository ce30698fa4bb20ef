// The CUDA driver; README.md here says how it maps and what its limits are.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateCudaDevice(0, {}));
//
// Executable formats: "ptx", "cubin"; of the emulated device "emulated-grid".
// Environment: EMBER_CUDA_LIBRARY, a library other than libcuda.so.1;
// EMBER_CUDA_EMULATE, what the emulated device is (emulated/emulated_cuda.h).
#ifndef EMBER_HAL_CUDA_CUDA_DEVICE_H_
#define EMBER_HAL_CUDA_CUDA_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// index: among those of the list. NotFound without a driver or that device; the
// message says what is missing.
StatusOr<std::shared_ptr<Device>> CreateCudaDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListCudaDevices();

// The same driver on a GPU that this process emulates: nothing is needed, and
// kernels run thread by thread on one processor, with every access of theirs
// checked.
StatusOr<std::shared_ptr<Device>> CreateEmulatedCudaDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListEmulatedCudaDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_CUDA_CUDA_DEVICE_H_
