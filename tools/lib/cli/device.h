// Opens the device that a command line asks for.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          OpenDevice("vulkan:1", 2));
#ifndef EMBER_TOOLS_LIB_CLI_DEVICE_H_
#define EMBER_TOOLS_LIB_CLI_DEVICE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"
#include "hal/device.h"
#include "hal/registry/drivers.h"

namespace ember::tools {

// Checks --device and --threads without opening a device. Returns a command
// line error if no driver has the name, or if `threads` is more than a device
// allows. It does not check if this machine has such a device.
Status CheckDevice(const std::string& name, int64_t threads);

// Opens the device. `threads` is the number of threads that it uses; 0: one per
// core. `cache_folder` is passed on as the field of hal::DeviceOptions. Errors:
// those of CheckDevice and of the driver.
StatusOr<std::shared_ptr<hal::Device>> OpenDevice(
    const std::string& name, int64_t threads,
    const std::string& cache_folder = "");

// Lists the devices of each driver, or the reason why it has none:
//   vulkan: GPUs, and CPUs with lavapipe, through Vulkan 1.2 or newer: SPIR-V
//     vulkan:0   llvmpipe (LLVM 15.0.6, 256 bits), 15.6 GB
//                vulkan1.3+f16+f64+…
std::string DevicesText(std::span<const hal::Driver> drivers);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_DEVICE_H_
