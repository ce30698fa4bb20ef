// What code for a Vulkan device may use: one table, from which features are
// switched on when a device is made, its target string is printed, and the
// capabilities of SPIR-V modules are checked.
//
//   FeatureSet features;
//   features.Query(vk, physical_device);
//   features.Target();   // "vulkan1.3+cpu+f16+f64+int64+…+shared32768+…"
//
// A target is "vulkanMAJOR.MINOR", then the names of kFeatures that the device
// has, then, where `matrix` and what that needs is among them, the products of
// matrices (matrix16x16x16:f16:f16:f32; cooperative_matrix.h), then three
// values: subgroupN (invocations of a subgroup; it is that size
// wherever a module uses subgroups), sharedN (bytes of a workgroup's memory),
// invocationsN (most in a workgroup); and, where code may not loop as it likes,
// iterationsN (of all loops of an invocation); and, where loads from texel
// buffers are much faster than from storage buffers, texelsN (the most of one).
#ifndef EMBER_HAL_VULKAN_FEATURES_H_
#define EMBER_HAL_VULKAN_FEATURES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hal/vulkan/cooperative_matrix.h"
#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

// Vulkan's structures of features and properties, as one object. Not copied:
// they point to each other.
class FeatureSet {
 public:
  FeatureSet() = default;
  FeatureSet(const FeatureSet&) = delete;
  FeatureSet& operator=(const FeatureSet&) = delete;

  // What the device has; of version 1.2 at least.
  void Query(const InstanceFunctions& vk, VkPhysicalDevice device);
  // What to switch on, for VkDeviceCreateInfo::pNext: the rows of kFeatures
  // that `available` has, and what the driver itself needs. The extensions go
  // with it. Both live as long as this.
  const void* Request(const FeatureSet& available);
  std::span<const char* const> extensions() const {
    return {extensions_.data(), extension_count_};
  }

  std::string Target() const;
  // Whether modules may multiply matrices: they use Vulkan's memory model, and
  // subgroups are full and of one size.
  bool HasMatrices() const;
  // Whether pipelines may be told to have full subgroups of the target's size.
  bool FixesSubgroups() const;

  VkPhysicalDeviceFeatures2 core = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDeviceVulkan11Features v11 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceVulkan12Features v12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan13Features v13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
  CooperativeMatrixFeatures matrix;
  std::vector<std::string> matrix_products;
  // Of devices of version 1.2; what they say is in v13, too, but not asked for
  // there.
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};

  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceVulkan11Properties p11 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES};
  VkPhysicalDeviceVulkan12Properties p12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES};
  VkPhysicalDeviceVulkan13Properties p13 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES};
  VkPhysicalDeviceShaderIntegerDotProductProperties dot_properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_PROPERTIES};

  uint32_t version() const { return properties.properties.apiVersion; }
  const VkPhysicalDeviceLimits& limits() const {
    return properties.properties.limits;
  }

 private:
  // Joins the structures that a device of this version, with these extensions,
  // knows.
  void Chain(uint32_t version, bool has_dot, bool has_matrix);

  std::array<const char*, 2> extensions_ = {};
  size_t extension_count_ = 0;
};

struct Feature {
  std::string_view name;  // in the target
  // Vulkan's bit, or null for a property: it is there without being asked for.
  VkBool32& (*bit)(FeatureSet&);
  bool (*property)(const FeatureSet&);
  // SPIR-V's capabilities that need it; 0: none.
  std::array<uint32_t, 4> capabilities;
  std::string_view doc;

  bool IsIn(const FeatureSet& set) const;
};

std::span<const Feature> AllFeatures();

// Whether modules for the device may declare the capability. Those that need
// nothing (Shader, Matrix, SampledBuffer, GroupNonUniform) and rows of the
// table that it has.
bool HasCapability(const FeatureSet& set, uint32_t capability);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_FEATURES_H_
