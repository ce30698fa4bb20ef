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

// VK_EXT_layer_settings is younger than the headers of Debian 12; names and
// values are those of Vulkan's registry.
inline constexpr const char* kLayerSettingsExtension = "VK_EXT_layer_settings";
struct LayerSetting {
  const char* pLayerName = kValidationLayer;
  const char* pSettingName = nullptr;
  int32_t type = 0;  // VK_LAYER_SETTING_TYPE_BOOL32_EXT
  uint32_t valueCount = 1;
  const void* pValues = nullptr;
};
struct LayerSettings {
  static constexpr auto kType = static_cast<VkStructureType>(1000496000);
  VkStructureType sType = kType;
  const void* pNext = nullptr;
  uint32_t settingCount = 0;
  const LayerSetting* pSettings = nullptr;
};

// Returns settings for an instance's pNext if the layer has
// kLayerSettingsExtension. They make it look for missing barriers between
// dispatches, which layers since 1.3.290 do only on request. Lives as long as
// the process.
const LayerSettings* SettingsOfValidation();

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_VALIDATION_H_
