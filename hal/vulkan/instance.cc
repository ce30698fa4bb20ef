#include "hal/vulkan/instance.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/concat.h"
#include "hal/vulkan/loader.h"
#include "hal/vulkan/result.h"
#include "hal/vulkan/validation.h"

namespace ember::hal::vulkan {
namespace {

constexpr const char* kWhereDriversAre =
    "; drivers come with the GPU's software, one for CPUs (lavapipe) in the "
    "package mesa-vulkan-drivers of Debian";

std::string VersionName(uint32_t version) {
  return Concat(
      {VK_API_VERSION_MAJOR(version), ".", VK_API_VERSION_MINOR(version)});
}

bool IsValidationWanted() {
  const char* const value = std::getenv("EMBER_VULKAN_VALIDATION");
  return value != nullptr && *value != '\0';
}

Status FindValidationLayer(const GlobalFunctions& vk) {
  uint32_t count = 0;
  EMBER_RETURN_IF_ERROR(
      ResultStatus("vkEnumerateInstanceLayerProperties",
                   vk.EnumerateInstanceLayerProperties(&count, nullptr)));
  std::vector<VkLayerProperties> layers(count);
  EMBER_RETURN_IF_ERROR(
      ResultStatus("vkEnumerateInstanceLayerProperties",
                   vk.EnumerateInstanceLayerProperties(&count, layers.data())));
  layers.resize(std::min<size_t>(count, layers.size()));
  for (const VkLayerProperties& layer : layers) {
    if (std::string_view(layer.layerName) == kValidationLayer)
      return OkStatus();
  }
  return NotFoundError(Concat({"Vulkan's layer ", kValidationLayer,
                               " is not installed; it is in the package "
                               "vulkan-validationlayers of Debian"}));
}

StatusOr<bool> LayerHasSettings(const GlobalFunctions& vk) {
  uint32_t count = 0;
  EMBER_RETURN_IF_ERROR(ResultStatus("vkEnumerateInstanceExtensionProperties",
                                     vk.EnumerateInstanceExtensionProperties(
                                         kValidationLayer, &count, nullptr)));
  std::vector<VkExtensionProperties> extensions(count);
  EMBER_RETURN_IF_ERROR(
      ResultStatus("vkEnumerateInstanceExtensionProperties",
                   vk.EnumerateInstanceExtensionProperties(
                       kValidationLayer, &count, extensions.data())));
  extensions.resize(std::min<size_t>(count, extensions.size()));
  return std::any_of(extensions.begin(), extensions.end(),
                     [](const VkExtensionProperties& extension) {
                       return std::string_view(extension.extensionName) ==
                              kLayerSettingsExtension;
                     });
}

// Returns the position of a type of device in the order in which devices are
// listed; 0 is the first.
int Rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
  }
}

// Returns a queue family for compute work, preferably one without graphics, so
// that the work does not delay the screen. Returns nullopt if there is none.
std::optional<uint32_t> FindQueueFamily(const InstanceFunctions& vk,
                                        VkPhysicalDevice device) {
  uint32_t count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  std::optional<uint32_t> found;
  for (uint32_t i = 0; i < count; ++i) {
    if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
    if ((families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0) return i;
    if (!found.has_value()) found = i;
  }
  return found;
}

// Returns the properties of a device, or the reason why the device cannot be
// used.
StatusOr<PhysicalDevice> Inspect(const InstanceFunctions& vk,
                                 VkPhysicalDevice handle) {
  VkPhysicalDeviceProperties properties;
  vk.GetPhysicalDeviceProperties(handle, &properties);
  if (properties.apiVersion < VK_API_VERSION_1_2) {
    return NotFoundError(
        Concat({properties.deviceName, ": expected Vulkan 1.2, found ",
                VersionName(properties.apiVersion)}));
  }
  const std::optional<uint32_t> family = FindQueueFamily(vk, handle);
  if (!family.has_value()) {
    return NotFoundError(
        Concat({properties.deviceName,
                ": expected a queue that computes, found none"}));
  }
  PhysicalDevice device;
  device.handle = handle;
  device.queue_family = *family;
  device.features = std::make_unique<FeatureSet>();
  device.features->Query(vk, handle);
  vk.GetPhysicalDeviceMemoryProperties(handle, &device.memory);
  device.memory_types = ChooseMemoryTypes(device.memory, properties.deviceType);
  if (device.memory_types.host_visible.empty() ||
      device.memory_types.device_local.empty()) {
    return NotFoundError(Concat({properties.deviceName,
                                 ": expected memory of the device and memory "
                                 "that the host can map, found none"}));
  }
  return device;
}

}  // namespace

StatusOr<std::shared_ptr<Instance>> Instance::Create(bool validate) {
  validate = validate || IsValidationWanted();
  EMBER_ASSIGN_OR_RETURN(const GlobalFunctions global, OpenLoader());
  uint32_t version = 0;
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "vkEnumerateInstanceVersion", global.EnumerateInstanceVersion(&version)));
  if (version < VK_API_VERSION_1_2) {
    return NotFoundError(
        Concat({"Vulkan's loader: expected version 1.2, found ",
                VersionName(version)}));
  }
  if (validate) EMBER_RETURN_IF_ERROR(FindValidationLayer(global));

  const VkApplicationInfo application = {
      .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
      .pApplicationName = "Ember",
      .pEngineName = "Ember",
      .apiVersion = VK_API_VERSION_1_3};
  // This messenger, in the instance's pNext, reports problems while the
  // instance is created and destroyed. The one that is created below reports
  // all others.
  VkDebugUtilsMessengerCreateInfoEXT messages = MessengerInfo();
  bool has_settings = false;
  if (validate) {
    EMBER_ASSIGN_OR_RETURN(has_settings, LayerHasSettings(global));
  }
  if (has_settings) messages.pNext = SettingsOfValidation();
  // Synchronisation validation makes the layer report missing barriers, even if
  // the kernels happen to give right results on this device.
  constexpr VkValidationFeatureEnableEXT kMore[] = {
      VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  const VkValidationFeaturesEXT checks = {
      .sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT,
      .pNext = &messages,
      .enabledValidationFeatureCount = 1,
      .pEnabledValidationFeatures = kMore};
  const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                    VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME,
                                    kLayerSettingsExtension};
  const VkInstanceCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
      .pNext = validate ? &checks : nullptr,
      .pApplicationInfo = &application,
      .enabledLayerCount = validate ? 1u : 0u,
      .ppEnabledLayerNames = &kValidationLayer,
      .enabledExtensionCount = has_settings ? 3u
                               : validate   ? 2u
                                            : 0u,
      .ppEnabledExtensionNames = extensions};
  const std::shared_ptr<Instance> instance(new Instance());
  const VkResult result =
      global.CreateInstance(&info, nullptr, &instance->handle_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER) {
    return NotFoundError(Concat({"Vulkan's loader finds no driver (",
                                 ResultName(result), ")", kWhereDriversAre}));
  }
  if (Status status = ResultStatus("vkCreateInstance", result); !status.ok()) {
    instance->handle_ = VK_NULL_HANDLE;
    return status;
  }
  EMBER_ASSIGN_OR_RETURN(instance->vk_,
                         LoadFunctions(global, instance->handle_));
  if (validate) {
    if (instance->vk_.CreateDebugUtilsMessengerEXT == nullptr ||
        instance->vk_.DestroyDebugUtilsMessengerEXT == nullptr)
      return NotFoundError(Concat(
          {"Vulkan: expected ", extensions[0], " for validation, found none"}));
    messages.pNext = nullptr;
    EMBER_RETURN_IF_ERROR(ResultStatus(
        "vkCreateDebugUtilsMessengerEXT",
        instance->vk_.CreateDebugUtilsMessengerEXT(
            instance->handle_, &messages, nullptr, &instance->messenger_)));
  }
  EMBER_RETURN_IF_ERROR(instance->FindDevices());
  return instance;
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE)
    vk_.DestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  // DestroyInstance is null if the instance's functions could not be loaded;
  // the instance then stays.
  if (handle_ != VK_NULL_HANDLE && vk_.DestroyInstance != nullptr)
    vk_.DestroyInstance(handle_, nullptr);
}

Status Instance::FindDevices() {
  uint32_t count = 0;
  EMBER_RETURN_IF_ERROR(
      ResultStatus("vkEnumeratePhysicalDevices",
                   vk_.EnumeratePhysicalDevices(handle_, &count, nullptr)));
  std::vector<VkPhysicalDevice> handles(count);
  EMBER_RETURN_IF_ERROR(ResultStatus(
      "vkEnumeratePhysicalDevices",
      vk_.EnumeratePhysicalDevices(handle_, &count, handles.data())));
  handles.resize(std::min<size_t>(count, handles.size()));
  std::string refused;
  for (VkPhysicalDevice handle : handles) {
    StatusOr<PhysicalDevice> device = Inspect(vk_, handle);
    if (device.ok()) {
      devices_.push_back(*std::move(device));
    } else {
      refused += Concat({"; ", device.status().message()});
    }
  }
  if (devices_.empty()) {
    return NotFoundError(
        refused.empty()
            ? Concat({"Vulkan's drivers find no device", kWhereDriversAre})
            : Concat({"Vulkan: no device can be used", refused}));
  }
  std::stable_sort(devices_.begin(), devices_.end(),
                   [](const PhysicalDevice& a, const PhysicalDevice& b) {
                     return Rank(a.properties().deviceType) <
                            Rank(b.properties().deviceType);
                   });
  return OkStatus();
}

}  // namespace ember::hal::vulkan
