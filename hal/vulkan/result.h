// What a Vulkan call failed with, as a status.
//
//   EMBER_RETURN_IF_ERROR(
//       ResultStatus("vkCreateInstance", vk.CreateInstance(...)));
#ifndef EMBER_HAL_VULKAN_RESULT_H_
#define EMBER_HAL_VULKAN_RESULT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

// "VK_ERROR_DEVICE_LOST"; "VkResult -7" of one that is not known here.
std::string ResultName(VkResult result);

// OK for VK_SUCCESS and other results that are no errors. ResourceExhausted:
// memory or a limit; NotFound: no driver, layer or extension;
// FailedPrecondition: a lost device; Internal: anything else.
Status ResultStatus(std::string_view call, VkResult result);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_RESULT_H_
