// The Metal driver; hal/metal/README.md describes how the HAL maps to Metal,
// and the limits.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateMetalDevice(0, {}));
//
// Executable format: "msl": `code` is a program of the Metal Shading Language
// as text with a kernel function `entry_point`. Binding i is [[buffer(i)]] at
// its offset; the parameters, 8 bytes each, are in [[buffer(30)]];
// [[threadgroup(0)]] has `shared_bytes`. Workgroups are `chunks`, of
// `workgroup` invocations.
//
// Environment: EMBER_METAL_LIBRARY names a library with other functions than
// the system's (library.h).
#ifndef EMBER_HAL_METAL_DEVICE_H_
#define EMBER_HAL_METAL_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// Creates a device. `index` is its number in the list of devices. Returns
// NotFound if there is no Metal on this system or no such device; the message
// says what is missing.
StatusOr<std::shared_ptr<Device>> CreateMetalDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListMetalDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_METAL_DEVICE_H_
