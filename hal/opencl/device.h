// The OpenCL driver; hal/opencl/README.md describes how the HAL maps to OpenCL,
// and the limits.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateOpenClDevice(0, {}));
//
// Executable format: "opencl-c": `code` is a program of OpenCL C 1.2 as text
// with a kernel function `entry_point`. Its arguments are, for each binding,
// the address of the binding's buffer (global uchar *) and the binding's offset
// in bytes (ulong); then the parameters (long). Workgroups are `chunks`, of
// `workgroup` invocations.
//
// Environment: EMBER_OPENCL_LIBRARY names a
// library other than libOpenCL.so.1; with EMBER_OPENCL_WITHOUT_SVM set, the
// driver uses no shared virtual memory.
#ifndef EMBER_HAL_OPENCL_DEVICE_H_
#define EMBER_HAL_OPENCL_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// Creates a device. `index` is its number in the list of devices: GPUs come
// first. Returns NotFound if there is no loader, no driver or no such device;
// the message says what is missing.
StatusOr<std::shared_ptr<Device>> CreateOpenClDevice(
    int index, const DeviceOptions& options);
StatusOr<std::vector<DeviceDescription>> ListOpenClDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_OPENCL_DEVICE_H_
