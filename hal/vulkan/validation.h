// Messages of Vulkan's validation layer: each is printed on stderr and counted.
//
//   const int64_t before = ValidationMessageCount();
//   …                       // devices made with DeviceOptions::validate
//   EXPECT_EQ(ValidationMessageCount(), before);
//
// There is one count per process, because messages may arrive until the
// instance is destroyed. Thread-safe.
#ifndef EMBER_HAL_VULKAN_VALIDATION_H_
#define EMBER_HAL_VULKAN_VALIDATION_H_

#include <cstdint>

#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

inline constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// Returns the number of warnings and errors of the validation layer so far in
// this process.
int64_t ValidationMessageCount();

// Returns a description of a messenger that prints and counts every warning and
// error. It is for the instance's pNext and for the messenger of the instance.
VkDebugUtilsMessengerCreateInfoEXT MessengerInfo();

// The names below belong to VK_EXT_layer_settings, which is newer than the
// headers of Debian 12. Names and values are those of Vulkan's registry.
inline constexpr const char* kLayerSettingsExtension = "VK_EXT_layer_settings";
struct LayerSetting {
  const char* pLayerName = kValidationLayer;
  const char* pSettingName = nullptr;
  int32_t type = 0;  // number of VK_LAYER_SETTING_TYPE_BOOL32_EXT
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

// Returns settings for an instance's pNext, for layers that have
// kLayerSettingsExtension. They make the layer check for missing barriers
// between dispatches, which layers from version 1.3.290 on do only on request.
// The settings live as long as the process.
const LayerSettings* SettingsOfValidation();

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_VALIDATION_H_
