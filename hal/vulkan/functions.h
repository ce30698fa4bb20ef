// The Vulkan functions that the driver calls, one line each. Vulkan's headers
// are included without prototypes, so a call of a function that is not in these
// tables does not compile.
//
//   StatusOr<Library> library = Library::Open();
//   library->vk.CreateInstance(...);
//
// Values; the pointers are valid as long as the instance or device from which
// they come.
#ifndef EMBER_HAL_VULKAN_FUNCTIONS_H_
#define EMBER_HAL_VULKAN_FUNCTIONS_H_

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

// Table of the functions that the loader gives without an instance.
#define EMBER_VULKAN_GLOBAL_FUNCTIONS(F)  \
  F(CreateInstance)                       \
  F(EnumerateInstanceExtensionProperties) \
  F(EnumerateInstanceLayerProperties)     \
  F(EnumerateInstanceVersion)

#define EMBER_VULKAN_INSTANCE_FUNCTIONS(F) \
  F(CreateDevice)                          \
  F(DestroyInstance)                       \
  F(EnumerateDeviceExtensionProperties)    \
  F(EnumeratePhysicalDevices)              \
  F(GetDeviceProcAddr)                     \
  F(GetPhysicalDeviceFeatures2)            \
  F(GetPhysicalDeviceMemoryProperties)     \
  F(GetPhysicalDeviceProperties)           \
  F(GetPhysicalDeviceProperties2)          \
  F(GetPhysicalDeviceQueueFamilyProperties)

// Table of the functions that exist only if the instance has
// VK_EXT_debug_utils.
#define EMBER_VULKAN_DEBUG_FUNCTIONS(F) \
  F(CreateDebugUtilsMessengerEXT)       \
  F(DestroyDebugUtilsMessengerEXT)

#define EMBER_VULKAN_DEVICE_FUNCTIONS(F) \
  F(AllocateCommandBuffers)              \
  F(AllocateDescriptorSets)              \
  F(AllocateMemory)                      \
  F(BeginCommandBuffer)                  \
  F(BindBufferMemory)                    \
  F(CmdBindDescriptorSets)               \
  F(CmdBindPipeline)                     \
  F(CmdCopyBuffer)                       \
  F(CmdDispatch)                         \
  F(CmdFillBuffer)                       \
  F(CmdPipelineBarrier)                  \
  F(CmdPushConstants)                    \
  F(CreateBuffer)                        \
  F(CreateBufferView)                    \
  F(CreateCommandPool)                   \
  F(CreateComputePipelines)              \
  F(CreateDescriptorPool)                \
  F(CreateDescriptorSetLayout)           \
  F(CreatePipelineCache)                 \
  F(CreatePipelineLayout)                \
  F(CreateSemaphore)                     \
  F(CreateShaderModule)                  \
  F(DestroyBuffer)                       \
  F(DestroyBufferView)                   \
  F(DestroyCommandPool)                  \
  F(DestroyDescriptorPool)               \
  F(DestroyDescriptorSetLayout)          \
  F(DestroyDevice)                       \
  F(DestroyPipeline)                     \
  F(DestroyPipelineCache)                \
  F(DestroyPipelineLayout)               \
  F(DestroySemaphore)                    \
  F(DestroyShaderModule)                 \
  F(DeviceWaitIdle)                      \
  F(EndCommandBuffer)                    \
  F(FreeMemory)                          \
  F(GetBufferMemoryRequirements)         \
  F(GetDeviceQueue)                      \
  F(GetPipelineCacheData)                \
  F(GetSemaphoreCounterValue)            \
  F(MapMemory)                           \
  F(QueueSubmit)                         \
  F(UpdateDescriptorSets)                \
  F(WaitSemaphores)

namespace ember::hal::vulkan {

#define EMBER_VULKAN_MEMBER(name) PFN_vk##name name = nullptr;

struct GlobalFunctions {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  EMBER_VULKAN_GLOBAL_FUNCTIONS(EMBER_VULKAN_MEMBER)
};

struct InstanceFunctions {
  EMBER_VULKAN_INSTANCE_FUNCTIONS(EMBER_VULKAN_MEMBER)
  EMBER_VULKAN_DEBUG_FUNCTIONS(EMBER_VULKAN_MEMBER)
  // A function of an extension that Vulkan's headers may not declare;
  // cooperative_matrix.h declares its type. The pointer is null if the loader
  // or all drivers lack the function.
  PFN_vkVoidFunction GetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;
};

struct DeviceFunctions {
  EMBER_VULKAN_DEVICE_FUNCTIONS(EMBER_VULKAN_MEMBER)
};

#undef EMBER_VULKAN_MEMBER

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_FUNCTIONS_H_
