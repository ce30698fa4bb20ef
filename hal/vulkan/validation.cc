#include "hal/vulkan/validation.h"

#include <atomic>
#include <cstdio>

namespace ember::hal::vulkan {
namespace {

std::atomic<int64_t> message_count{0};

VKAPI_ATTR VkBool32 VKAPI_CALL OnMessage(
    VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
    const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  message_count.fetch_add(1, std::memory_order_relaxed);
  std::fprintf(stderr, "Vulkan validation: %s\n", data->pMessage);
  // VK_FALSE means that the Vulkan call which caused the message is not
  // aborted.
  return VK_FALSE;
}

}  // namespace

int64_t ValidationMessageCount() {
  return message_count.load(std::memory_order_relaxed);
}

VkDebugUtilsMessengerCreateInfoEXT MessengerInfo() {
  return {.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
          .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                             VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
          .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                         VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
          .pfnUserCallback = OnMessage};
}

const LayerSettings* SettingsOfValidation() {
  static constexpr VkBool32 kOn = VK_TRUE;
  static constexpr LayerSetting kSettings[] = {
      {.pSettingName = "syncval_shader_accesses_heuristic", .pValues = &kOn}};
  static constexpr LayerSettings kAll = {.settingCount = 1,
                                         .pSettings = kSettings};
  return &kAll;
}

}  // namespace ember::hal::vulkan
