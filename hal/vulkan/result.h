// Converts the result of a Vulkan call to a status.
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

// Returns the name of a result, such as "VK_ERROR_DEVICE_LOST"; "VkResult -7"
// for an unknown result.
std::string ResultName(VkResult result);

// Converts a result to a status: OK for VK_SUCCESS and other results that are
// no errors; ResourceExhausted if memory or a limit is exhausted; NotFound if a
// driver, layer or extension is missing; FailedPrecondition if the device is
// lost; Internal for any other result. `call` names the Vulkan function in the
// message.
Status ResultStatus(std::string_view call, VkResult result);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_RESULT_H_
