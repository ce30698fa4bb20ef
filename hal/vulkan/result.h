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

// Returns OK for VK_SUCCESS and other results that are no errors.
// ResourceExhausted: memory or a limit; NotFound: no driver, layer or
// extension; FailedPrecondition: a lost device; Internal: anything else.
Status ResultStatus(std::string_view call, VkResult result);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_RESULT_H_
