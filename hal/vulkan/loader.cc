#include "hal/vulkan/loader.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "base/concat.h"

namespace ember::hal::vulkan {
namespace {

Status MissingFunction(const char* name) {
  return NotFoundError(
      Concat({"Vulkan: expected the function ", name,
              " of version 1.2, found none; a newer loader or driver has it"}));
}

}  // namespace

StatusOr<GlobalFunctions> OpenLoader() {
  const char* const given = std::getenv("EMBER_VULKAN_LIBRARY");
  const bool is_given = given != nullptr && *given != '\0';
  const char* const name = is_given ? given : "libvulkan.so.1";
  void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    return NotFoundError(
        Concat({"Vulkan's loader, ", name, ", cannot be opened (",
                reason == nullptr ? "no reason given" : reason, "); ",
                is_given ? "EMBER_VULKAN_LIBRARY names it"
                         : "it is in the package libvulkan1 of Debian and in "
                           "every Vulkan SDK"}));
  }
  GlobalFunctions functions;
  functions.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      ::dlsym(library, "vkGetInstanceProcAddr"));
  if (functions.GetInstanceProcAddr == nullptr) {
    return NotFoundError(Concat({"Vulkan's loader, ", name,
                                 ": expected vkGetInstanceProcAddr in it, "
                                 "found none"}));
  }
#define EMBER_VULKAN_LOAD(function)                            \
  functions.function = reinterpret_cast<PFN_vk##function>(     \
      functions.GetInstanceProcAddr(nullptr, "vk" #function)); \
  if (functions.function == nullptr) return MissingFunction("vk" #function);
  EMBER_VULKAN_GLOBAL_FUNCTIONS(EMBER_VULKAN_LOAD)
#undef EMBER_VULKAN_LOAD
  return functions;
}

StatusOr<InstanceFunctions> LoadFunctions(const GlobalFunctions& global,
                                          VkInstance instance) {
  InstanceFunctions functions;
#define EMBER_VULKAN_FIND(function)                        \
  functions.function = reinterpret_cast<PFN_vk##function>( \
      global.GetInstanceProcAddr(instance, "vk" #function));
#define EMBER_VULKAN_LOAD(function) \
  EMBER_VULKAN_FIND(function)       \
  if (functions.function == nullptr) return MissingFunction("vk" #function);
  EMBER_VULKAN_INSTANCE_FUNCTIONS(EMBER_VULKAN_LOAD)
  EMBER_VULKAN_DEBUG_FUNCTIONS(EMBER_VULKAN_FIND)
  functions.GetPhysicalDeviceCooperativeMatrixPropertiesKHR =
      global.GetInstanceProcAddr(
          instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
#undef EMBER_VULKAN_LOAD
#undef EMBER_VULKAN_FIND
  return functions;
}

StatusOr<DeviceFunctions> LoadFunctions(const InstanceFunctions& instance,
                                        VkDevice device) {
  DeviceFunctions functions;
#define EMBER_VULKAN_LOAD(function)                        \
  functions.function = reinterpret_cast<PFN_vk##function>( \
      instance.GetDeviceProcAddr(device, "vk" #function)); \
  if (functions.function == nullptr) return MissingFunction("vk" #function);
  EMBER_VULKAN_DEVICE_FUNCTIONS(EMBER_VULKAN_LOAD)
#undef EMBER_VULKAN_LOAD
  return functions;
}

}  // namespace ember::hal::vulkan
