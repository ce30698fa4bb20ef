// The Vulkan driver; hal/vulkan/README.md describes how the HAL maps to Vulkan,
// and the limits.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateVulkanDevice(0, {}));
//
// Executable formats: "spirv". Environment: EMBER_VULKAN_LIBRARY names a loader
// other than libvulkan.so.1; a nonempty EMBER_VULKAN_VALIDATION has the effect
// of DeviceOptions::validate.
#ifndef EMBER_HAL_VULKAN_DEVICE_H_
#define EMBER_HAL_VULKAN_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// Creates a device. `index` is its number in ListVulkanDevices(). Returns
// NotFound if there is no loader, no driver or no such device; the message says
// what to install.
StatusOr<std::shared_ptr<Device>> CreateVulkanDevice(
    int index, const DeviceOptions& options);

// Returns the devices, the best first: discrete, then integrated, virtual, CPU
// and other devices.
StatusOr<std::vector<DeviceDescription>> ListVulkanDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_VULKAN_DEVICE_H_
