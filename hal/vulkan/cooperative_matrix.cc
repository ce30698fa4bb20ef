#include "hal/vulkan/cooperative_matrix.h"

#include <algorithm>
#include <string_view>

#include "base/concat.h"

namespace ember::hal::vulkan {
namespace {

using GetProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*,
                                           CooperativeMatrixProperties*);

std::string_view NameOf(ComponentType type) {
  switch (type) {
    case ComponentType::kFloat16:
      return "f16";
    case ComponentType::kFloat32:
      return "f32";
    case ComponentType::kSigned8:
      return "i8";
    case ComponentType::kUnsigned8:
      return "u8";
    case ComponentType::kSigned32:
    case ComponentType::kUnsigned32:
      return "i32";
  }
  // Other component types have no name: the device may list products of them,
  // but the compiler does not use these.
  return "";
}

bool IsByte(ComponentType type) {
  return type == ComponentType::kSigned8 || type == ComponentType::kUnsigned8;
}

// True if Ember's kernels use this combination of types: bytes are summed in 32
// bits, f16 in f16 or f32.
bool IsSumOf(const CooperativeMatrixProperties& p) {
  if (IsByte(p.AType) && IsByte(p.BType)) {
    const bool is_unsigned = p.AType == ComponentType::kUnsigned8 &&
                             p.BType == ComponentType::kUnsigned8;
    return p.CType == (is_unsigned ? ComponentType::kUnsigned32
                                   : ComponentType::kSigned32);
  }
  return p.AType == ComponentType::kFloat16 &&
         p.BType == ComponentType::kFloat16 &&
         (p.CType == ComponentType::kFloat16 ||
          p.CType == ComponentType::kFloat32);
}

}  // namespace

std::string NameOf(const CooperativeMatrixProperties& p) {
  const bool is_named = p.scope == kSubgroupScope &&
                        p.saturatingAccumulation == VK_FALSE &&
                        p.CType == p.ResultType && IsSumOf(p);
  if (!is_named) return "";
  return Concat({p.MSize, "x", p.NSize, "x", p.KSize, ":", NameOf(p.AType), ":",
                 NameOf(p.BType), ":", NameOf(p.CType)});
}

std::vector<std::string> MatrixProducts(const InstanceFunctions& vk,
                                        VkPhysicalDevice device) {
  const auto get = reinterpret_cast<GetProperties>(
      vk.GetPhysicalDeviceCooperativeMatrixPropertiesKHR);
  uint32_t count = 0;
  if (get == nullptr || get(device, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<CooperativeMatrixProperties> all(count);
  if (get(device, &count, all.data()) < 0) return {};
  all.resize(std::min<size_t>(count, all.size()));
  std::vector<std::string> names;
  for (const CooperativeMatrixProperties& properties : all) {
    std::string name = NameOf(properties);
    if (!name.empty() &&
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace ember::hal::vulkan
