// Messages of Vulkan's validation layer: each is printed on stderr and counted.
//
//   const int64_t before = ValidationMessageCount();
//   …                       // devices made with DeviceOptions::validate
//   EXPECT_EQ(ValidationMessageCount(), before);
//
// One count per process, as messages come until the instance is gone.
// Thread-safe.
#ifndef EMBER_HAL_VULKAN_VALIDATION_H_
#define EMBER_HAL_VULKAN_VALIDATION_H_

#include <cstdint>

#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

inline constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// Warnings and errors so far.
int64_t ValidationMessageCount();

// For an instance's pNext and its messenger: every warning and error.
VkDebugUtilsMessengerCreateInfoEXT MessengerInfo();

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_VALIDATION_H_
