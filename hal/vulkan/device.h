// The Vulkan driver; README.md here describes the mapping and the limits.
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

// Creates a device. index: its number in ListVulkanDevices(). NotFound without
// a loader, a driver, or that device; the message says what to install.
StatusOr<std::shared_ptr<Device>> CreateVulkanDevice(
    int index, const DeviceOptions& options);

// Returns the devices, best first: discrete devices, then integrated, virtual
// ones, CPUs.
StatusOr<std::vector<DeviceDescription>> ListVulkanDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_VULKAN_DEVICE_H_
