// The features that code for a Vulkan device may use, in one table. From the
// table come the features that are enabled when a device is made, the target
// string, and the check of the capabilities of SPIR-V modules.
//
//   FeatureSet features;
//   features.Query(vk, physical_device);
//   features.Target();   // "vulkan1.3+cpu+f16+f64+int64+…+shared32768+…"
//
// A target is "vulkanMAJOR.MINOR", then the names of kFeatures that the device
// has. If `matrix` and its requirements are among them, the matrix products
// follow (matrix16x16x16:f16:f16:f32; cooperative_matrix.h). Then come three
// values: subgroupN (invocations of a subgroup; every module that uses
// subgroups gets this size), sharedN (largest number of bytes of a workgroup's
// memory), invocationsN (largest number of invocations of a workgroup). If the
// driver silently ends long loops, iterationsN is the largest number of
// iterations of all loops of an invocation. If loads from texel buffers are
// much faster than loads from storage buffers, texelsN is the largest number of
// texels of a texel buffer.
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

// Vulkan's structures of features and properties, as one object. It cannot be
// copied, because the structures point to each other.
class FeatureSet {
 public:
  FeatureSet() = default;
  FeatureSet(const FeatureSet&) = delete;
  FeatureSet& operator=(const FeatureSet&) = delete;

  // Reads the features of a device, which must support Vulkan 1.2 or later.
  void Query(const InstanceFunctions& vk, VkPhysicalDevice device);
  // Returns the structures with the features to enable, for
  // VkDeviceCreateInfo::pNext: the rows of kFeatures that `available` has, and
  // the features that the driver itself needs. extensions() then returns the
  // extensions to enable. Both results are valid as long as this object exists.
  const void* Request(const FeatureSet& available);
  std::span<const char* const> extensions() const {
    return {extensions_.data(), extension_count_};
  }

  std::string Target() const;
  // True if modules may multiply matrices on the device. Besides the feature
  // itself this requires Vulkan's memory model, subgroup operations, and full
  // subgroups of a fixed size.
  bool HasMatrices() const;
  // True if a pipeline can require full subgroups of the size that the target
  // names.
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
  // The features of integer dot products, which are an extension in version
  // 1.2. Query copies their values to v13, where all other code reads them.
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
  // Links the structures through their pNext: those that exist for a device of
  // this version with these extensions.
  void Chain(uint32_t version, bool has_dot, bool has_matrix);

  std::array<const char*, 2> extensions_ = {};
  size_t extension_count_ = 0;
};

struct Feature {
  std::string_view name;  // name of the feature in the text of a target
  // Returns a reference to Vulkan's bit for the feature. Null for a property,
  // which is not enabled but only read.
  VkBool32& (*bit)(FeatureSet&);
  bool (*property)(const FeatureSet&);
  // The SPIR-V capabilities that a module may declare only if the device has
  // the feature. A 0 ends the list.
  std::array<uint32_t, 4> capabilities;
  std::string_view doc;

  bool IsIn(const FeatureSet& set) const;
};

std::span<const Feature> AllFeatures();

// True if modules for the device may declare the capability. These are the
// capabilities without requirements (Shader, Matrix, SampledBuffer),
// GroupNonUniform if the device has subgroup operations, and those of the
// features in the table that the device has.
bool HasCapability(const FeatureSet& set, uint32_t capability);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_FEATURES_H_
