// The CPU driver: aligned memory, a thread pool (or the application's own
// threads), host functions.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateCpuDevice({.threads = 2}));
//
// Executable formats: "host-function". Submit runs the commands before it
// returns.
#ifndef EMBER_HAL_CPU_DEVICE_H_
#define EMBER_HAL_CPU_DEVICE_H_

#include <memory>
#include <vector>

#include "base/host_allocator.h"
#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

StatusOr<std::shared_ptr<Device>> CreateCpuDevice(const DeviceOptions& options);
// Makes the CPU device. The memory of its buffers comes from the application's
// allocator.
StatusOr<std::shared_ptr<Device>> CreateCpuDevice(
    const DeviceOptions& options, const HostAllocator& allocator);

// Returns a list with the single CPU device.
StatusOr<std::vector<DeviceDescription>> ListCpuDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_DEVICE_H_
