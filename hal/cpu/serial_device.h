// The host with one thread and for sessions alone, for programs that must be
// small: no thread pool, no command lists, no kernels that ask what the
// processor can do.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateSerialDevice({}));
//
// Errors: executables and command lists are Unimplemented.
#ifndef EMBER_HAL_CPU_SERIAL_DEVICE_H_
#define EMBER_HAL_CPU_SERIAL_DEVICE_H_

#include <memory>

#include "base/host_allocator.h"
#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// Of the options, memory_limit and host_runner count.
StatusOr<std::shared_ptr<Device>> CreateSerialDevice(
    const DeviceOptions& options, const HostAllocator& allocator = {});

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_SERIAL_DEVICE_H_
