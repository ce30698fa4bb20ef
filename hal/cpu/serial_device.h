// A device that is the host with a single thread. It is only for sessions in
// programs that must be small: it has no thread pool, no command lists and no
// code that queries the processor's features.
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

// Makes the device. Only the options memory_limit and host_runner have an
// effect.
StatusOr<std::shared_ptr<Device>> CreateSerialDevice(
    const DeviceOptions& options, const HostAllocator& allocator = {});

}  // namespace ember::hal

#endif  // EMBER_HAL_CPU_SERIAL_DEVICE_H_
