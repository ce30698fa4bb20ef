#include "hal/vulkan/result.h"

#include "base/concat.h"

namespace ember::hal::vulkan {
namespace {

// A row of the table of Vulkan's results. A result without a row, such as one
// of an unknown extension, becomes Internal.
struct Row {
  VkResult result;
  std::string_view name;
  StatusCode code;
};

#define EMBER_VULKAN_ROW(result, code) {result, #result, StatusCode::code}
constexpr Row kRows[] = {
    EMBER_VULKAN_ROW(VK_ERROR_OUT_OF_HOST_MEMORY, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_OUT_OF_DEVICE_MEMORY, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_OUT_OF_POOL_MEMORY, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_FRAGMENTED_POOL, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_TOO_MANY_OBJECTS, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_DEVICE_LOST, kFailedPrecondition),
    EMBER_VULKAN_ROW(VK_ERROR_INCOMPATIBLE_DRIVER, kNotFound),
    EMBER_VULKAN_ROW(VK_ERROR_LAYER_NOT_PRESENT, kNotFound),
    EMBER_VULKAN_ROW(VK_ERROR_EXTENSION_NOT_PRESENT, kNotFound),
    EMBER_VULKAN_ROW(VK_ERROR_FEATURE_NOT_PRESENT, kInternal),
    EMBER_VULKAN_ROW(VK_ERROR_INITIALIZATION_FAILED, kInternal),
    EMBER_VULKAN_ROW(VK_ERROR_MEMORY_MAP_FAILED, kResourceExhausted),
    EMBER_VULKAN_ROW(VK_ERROR_INVALID_SHADER_NV, kInvalidArgument),
    EMBER_VULKAN_ROW(VK_ERROR_UNKNOWN, kInternal),
};
#undef EMBER_VULKAN_ROW

const Row* Find(VkResult result) {
  for (const Row& row : kRows) {
    if (row.result == result) return &row;
  }
  return nullptr;
}

}  // namespace

std::string ResultName(VkResult result) {
  const Row* const row = Find(result);
  return row != nullptr ? std::string(row->name)
                        : Concat({"VkResult ", static_cast<int64_t>(result)});
}

Status ResultStatus(std::string_view call, VkResult result) {
  // Only negative results are errors. The others are success, or report a
  // state, such as VK_INCOMPLETE or VK_TIMEOUT.
  if (result >= 0) return OkStatus();
  const Row* const row = Find(result);
  const StatusCode code = row != nullptr ? row->code : StatusCode::kInternal;
  return Status(code, Concat({call, " gave ", ResultName(result)}));
}

}  // namespace ember::hal::vulkan
