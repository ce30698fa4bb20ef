// The Vulkan driver; README.md here says how it maps and what its limits are.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateVulkanDevice(0, {}));
//
// Executable formats: "spirv". Environment: EMBER_VULKAN_LIBRARY, a loader
// other than libvulkan.so.1; EMBER_VULKAN_VALIDATION, not empty: as
// DeviceOptions::validate.
#ifndef EMBER_HAL_VULKAN_VULKAN_DEVICE_H_
#define EMBER_HAL_VULKAN_VULKAN_DEVICE_H_

#include <memory>
#include <vector>

#include "base/status.h"
#include "hal/device.h"

namespace ember::hal {

// index: among ListVulkanDevices(). NotFound without a loader, a driver, or
// that device; the message says what to install.
StatusOr<std::shared_ptr<Device>> CreateVulkanDevice(
    int index, const DeviceOptions& options);

// Best first: discrete devices, then integrated, virtual ones, CPUs.
StatusOr<std::vector<DeviceDescription>> ListVulkanDevices();

}  // namespace ember::hal

#endif  // EMBER_HAL_VULKAN_VULKAN_DEVICE_H_
