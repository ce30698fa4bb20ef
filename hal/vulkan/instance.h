// A Vulkan instance and its devices, the best one first.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Instance> instance,
//                          Instance::Create(/*validate=*/false));
//   for (const PhysicalDevice& device : instance->devices()) device.name();
//
// Errors: NotFound, with the reason, if there is no loader, no driver, no
// usable device, or no validation layer although one is requested. Thread-safe
// once it is made.
#ifndef EMBER_HAL_VULKAN_INSTANCE_H_
#define EMBER_HAL_VULKAN_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/vulkan/features.h"
#include "hal/vulkan/functions.h"
#include "hal/vulkan/memory_types.h"

namespace ember::hal::vulkan {

// A physical device, with the properties that are known before a device is made
// of it.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::unique_ptr<FeatureSet> features;
  VkPhysicalDeviceMemoryProperties memory = {};
  MemoryTypes memory_types;
  uint32_t queue_family = 0;  // number of the queue family whose queue runs
                              // compute work

  const VkPhysicalDeviceProperties& properties() const {
    return features->properties.properties;
  }
  std::string name() const { return properties().deviceName; }
};

class Instance {
 public:
  // Creates the instance. `validate` enables VK_LAYER_KHRONOS_validation
  // (validation.h), and so does a nonempty environment variable
  // EMBER_VULKAN_VALIDATION.
  static StatusOr<std::shared_ptr<Instance>> Create(bool validate);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Returns the usable devices, at least one. They are ordered by kind:
  // discrete, integrated, virtual, CPU, other; devices of one kind are in the
  // loader's order.
  const std::vector<PhysicalDevice>& devices() const { return devices_; }
  const InstanceFunctions& vk() const { return vk_; }

 private:
  Instance() = default;
  Status FindDevices();

  VkInstance handle_ = VK_NULL_HANDLE;
  InstanceFunctions vk_;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_INSTANCE_H_
