// Vulkan's loader, opened when the first device is needed: libvulkan.so.1, or
// the library that the environment variable EMBER_VULKAN_LIBRARY names.
//
//   EMBER_ASSIGN_OR_RETURN(const GlobalFunctions global, OpenLoader());
//
// A library is never unloaded, because the Vulkan drivers that it loads have
// threads and thread-local data. Errors: NotFound if the library or one of its
// functions is missing. Thread-safe while the environment does not change.
#ifndef EMBER_HAL_VULKAN_LOADER_H_
#define EMBER_HAL_VULKAN_LOADER_H_

#include "base/status.h"
#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

StatusOr<GlobalFunctions> OpenLoader();

StatusOr<InstanceFunctions> LoadFunctions(const GlobalFunctions& global,
                                          VkInstance instance);
StatusOr<DeviceFunctions> LoadFunctions(const InstanceFunctions& functions,
                                        VkDevice device);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_LOADER_H_
