// Declares VK_KHR_cooperative_matrix, which is newer than the headers of Debian
// 12; names and values are those of Vulkan's registry (vk.xml). The functions
// below make the names that the matrix products of a device have in its target:
//
//   16x16x16:f16:f16:f32    rows x columns x depth : types of the factors : of
//                           the sum
//
// A product has a name only if the invocations of a subgroup compute it
// together, if it does not saturate, and if the compiler supports its types:
// f16 in f16 or f32, bytes in i32. A sum of integers must be unsigned exactly
// if both factors are u8 (the bits are the same). A product whose sum has the
// other sign is ignored.
#ifndef EMBER_HAL_VULKAN_COOPERATIVE_MATRIX_H_
#define EMBER_HAL_VULKAN_COOPERATIVE_MATRIX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "hal/vulkan/functions.h"

namespace ember::hal::vulkan {

// Number of the capability CooperativeMatrixKHR of SPV_KHR_cooperative_matrix.
inline constexpr uint32_t kCooperativeMatrixCapability = 6022;

struct CooperativeMatrixFeatures {
  static constexpr auto kType = static_cast<VkStructureType>(1000506000);
  VkStructureType sType = kType;
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkBool32 cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

enum class ComponentType : int32_t {
  kFloat16 = 0,
  kFloat32 = 1,
  kSigned8 = 3,
  kSigned32 = 5,
  kUnsigned8 = 7,
  kUnsigned32 = 9,
};

// The value of VkScopeKHR that means a subgroup.
inline constexpr int32_t kSubgroupScope = 3;

struct CooperativeMatrixProperties {
  static constexpr auto kType = static_cast<VkStructureType>(1000506001);
  VkStructureType sType = kType;
  void* pNext = nullptr;
  uint32_t MSize = 0;
  uint32_t NSize = 0;
  uint32_t KSize = 0;
  ComponentType AType = ComponentType::kFloat16;
  ComponentType BType = ComponentType::kFloat16;
  ComponentType CType = ComponentType::kFloat16;
  ComponentType ResultType = ComponentType::kFloat16;
  VkBool32 saturatingAccumulation = VK_FALSE;
  int32_t scope = kSubgroupScope;
};

// Returns the name of a product. It is empty for a product that the compiler
// cannot use.
std::string NameOf(const CooperativeMatrixProperties& properties);

// Returns the names of the products that a device with the extension lists, in
// the device's order and each once. Returns an empty list if the query fails.
std::vector<std::string> MatrixProducts(const InstanceFunctions& vk,
                                        VkPhysicalDevice device);

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_COOPERATIVE_MATRIX_H_
