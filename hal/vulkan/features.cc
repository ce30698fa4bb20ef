#include "hal/vulkan/features.h"

#include <algorithm>
#include <cstring>
#include <spirv/unified1/spirv.hpp11>
#include <vector>

#include "base/concat.h"

namespace ember::hal::vulkan {
namespace {

constexpr const char* kDotExtension = "VK_KHR_shader_integer_dot_product";
constexpr const char* kMatrixExtension = "VK_KHR_cooperative_matrix";

constexpr std::array<uint32_t, 4> Needs(
    spv::Capability a = spv::Capability(0),
    spv::Capability b = spv::Capability(0),
    spv::Capability c = spv::Capability(0),
    spv::Capability d = spv::Capability(0)) {
  return {static_cast<uint32_t>(a), static_cast<uint32_t>(b),
          static_cast<uint32_t>(c), static_cast<uint32_t>(d)};
}

// Each macro makes the last two functions of a row: EMBER_BIT refers to a
// feature bit that must be enabled, EMBER_PROPERTY to a property that is only
// read.
#define EMBER_BIT(path) \
  [](FeatureSet& set) -> VkBool32& { return set.path; }, nullptr
#define EMBER_PROPERTY(expression) \
  nullptr, [](const FeatureSet& set) -> bool { return expression; }

bool HasSubgroup(const FeatureSet& set, VkSubgroupFeatureFlagBits operations) {
  return (set.p11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         (set.p11.subgroupSupportedOperations & operations) != 0;
}

using spv::Capability;

// The table of features. Rows are in the order in which a target lists them.
constexpr Feature kFeatures[] = {
    {"cpu",
     EMBER_PROPERTY(set.properties.properties.deviceType ==
                    VK_PHYSICAL_DEVICE_TYPE_CPU),
     Needs(), "software: invocations are lanes of the host's vectors"},
    {"unfused_fma",
     EMBER_PROPERTY(set.p12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE), Needs(),
     "fma rounds the product, too: of drivers that are known to do so"},
    {"f16", EMBER_BIT(v12.shaderFloat16), Needs(Capability::Float16),
     "arithmetic in 16-bit floats"},
    {"f64", EMBER_BIT(core.features.shaderFloat64), Needs(Capability::Float64),
     "64-bit floats"},
    {"int8", EMBER_BIT(v12.shaderInt8), Needs(Capability::Int8),
     "arithmetic in 8-bit integers"},
    {"int16", EMBER_BIT(core.features.shaderInt16), Needs(Capability::Int16),
     "arithmetic in 16-bit integers"},
    {"int64", EMBER_BIT(core.features.shaderInt64), Needs(Capability::Int64),
     "64-bit integers"},
    {"storage8", EMBER_BIT(v12.storageBuffer8BitAccess),
     Needs(Capability::StorageBuffer8BitAccess),
     "buffers of 8-bit elements, loaded and stored one by one"},
    {"storage16", EMBER_BIT(v11.storageBuffer16BitAccess),
     Needs(Capability::StorageBuffer16BitAccess),
     "buffers of 16-bit elements, loaded and stored one by one"},
    {"dot", EMBER_BIT(v13.shaderIntegerDotProduct),
     Needs(Capability::DotProduct, Capability::DotProductInput4x8Bit,
           Capability::DotProductInput4x8BitPacked,
           Capability::DotProductInputAll),
     "dot products of small integers"},
    {"fast_dot",
     EMBER_PROPERTY(
         set.p13.integerDotProduct4x8BitPackedSignedAccelerated != 0 &&
         set.p13.integerDotProduct4x8BitPackedUnsignedAccelerated != 0),
     Needs(),
     "dot: four 8-bit integers of one sign in one instruction of the machine"},
    {"fast_mixed_dot",
     EMBER_PROPERTY(
         set.p13.integerDotProduct4x8BitPackedMixedSignednessAccelerated != 0),
     Needs(), "dot: also where one factor has a sign and the other none"},
    {"matrix", EMBER_BIT(matrix.cooperativeMatrix),
     Needs(Capability(kCooperativeMatrixCapability)),
     "cooperative matrices (VK_KHR_cooperative_matrix)"},
    {"vulkan_memory_model", EMBER_BIT(v12.vulkanMemoryModel),
     Needs(Capability::VulkanMemoryModel),
     "Vulkan's memory model, beside that of GLSL450"},
    {"bda", EMBER_BIT(v12.bufferDeviceAddress),
     Needs(Capability::PhysicalStorageBufferAddresses),
     "pointers to buffers (buffer device addresses)"},
    {"subgroup_arithmetic",
     EMBER_PROPERTY(HasSubgroup(set, VK_SUBGROUP_FEATURE_ARITHMETIC_BIT)),
     Needs(Capability::GroupNonUniformArithmetic),
     "sums, minima … over a subgroup"},
    {"subgroup_shuffle",
     EMBER_PROPERTY(HasSubgroup(set, VK_SUBGROUP_FEATURE_SHUFFLE_BIT)),
     Needs(Capability::GroupNonUniformShuffle),
     "values of another invocation of the subgroup"},
    {"denorm16", EMBER_PROPERTY(set.p12.shaderDenormPreserveFloat16 != 0),
     Needs(Capability::DenormPreserve), "DenormPreserve 16"},
    {"denorm32", EMBER_PROPERTY(set.p12.shaderDenormPreserveFloat32 != 0),
     Needs(Capability::DenormPreserve), "DenormPreserve 32"},
    {"denorm64", EMBER_PROPERTY(set.p12.shaderDenormPreserveFloat64 != 0),
     Needs(Capability::DenormPreserve), "DenormPreserve 64"},
    {"nan16",
     EMBER_PROPERTY(set.p12.shaderSignedZeroInfNanPreserveFloat16 != 0),
     Needs(Capability::SignedZeroInfNanPreserve),
     "SignedZeroInfNanPreserve 16"},
    {"nan32",
     EMBER_PROPERTY(set.p12.shaderSignedZeroInfNanPreserveFloat32 != 0),
     Needs(Capability::SignedZeroInfNanPreserve),
     "SignedZeroInfNanPreserve 32"},
    {"nan64",
     EMBER_PROPERTY(set.p12.shaderSignedZeroInfNanPreserveFloat64 != 0),
     Needs(Capability::SignedZeroInfNanPreserve),
     "SignedZeroInfNanPreserve 64"},
    {"rte16", EMBER_PROPERTY(set.p12.shaderRoundingModeRTEFloat16 != 0),
     Needs(Capability::RoundingModeRTE), "RoundingModeRTE 16"},
    {"rte32", EMBER_PROPERTY(set.p12.shaderRoundingModeRTEFloat32 != 0),
     Needs(Capability::RoundingModeRTE), "RoundingModeRTE 32"},
    {"rte64", EMBER_PROPERTY(set.p12.shaderRoundingModeRTEFloat64 != 0),
     Needs(Capability::RoundingModeRTE), "RoundingModeRTE 64"},
};

#undef EMBER_BIT
#undef EMBER_PROPERTY

bool HasExtension(const InstanceFunctions& vk, VkPhysicalDevice device,
                  std::string_view wanted) {
  uint32_t count = 0;
  if (vk.EnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) !=
      VK_SUCCESS)
    return false;
  std::vector<VkExtensionProperties> extensions(count);
  // If the list of extensions becomes longer between the two calls, the second
  // one returns only `count` of them, which is no error here.
  if (vk.EnumerateDeviceExtensionProperties(device, nullptr, &count,
                                            extensions.data()) < 0)
    return false;
  extensions.resize(std::min<size_t>(count, extensions.size()));
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const VkExtensionProperties& extension) {
                       return extension.extensionName == wanted;
                     });
}

}  // namespace

std::span<const Feature> AllFeatures() { return kFeatures; }

bool Feature::IsIn(const FeatureSet& set) const {
  return bit != nullptr ? bit(const_cast<FeatureSet&>(set)) != VK_FALSE
                        : property(set);
}

void FeatureSet::Chain(uint32_t version, bool has_dot, bool has_matrix) {
  const bool has_13 = version >= VK_API_VERSION_1_3;
  void* const last = has_matrix ? &matrix : nullptr;
  core.pNext = &v11;
  v11.pNext = &v12;
  v12.pNext = has_13 ? &v13 : has_dot ? static_cast<void*>(&dot) : last;
  v13.pNext = dot.pNext = last;
  properties.pNext = &p11;
  p11.pNext = &p12;
  p12.pNext = has_13    ? static_cast<void*>(&p13)
              : has_dot ? static_cast<void*>(&dot_properties)
                        : nullptr;
}

void FeatureSet::Query(const InstanceFunctions& vk, VkPhysicalDevice device) {
  VkPhysicalDeviceProperties basic;
  vk.GetPhysicalDeviceProperties(device, &basic);
  const bool has_13 = basic.apiVersion >= VK_API_VERSION_1_3;
  const bool has_matrix = HasExtension(vk, device, kMatrixExtension);
  if (has_matrix) matrix_products = MatrixProducts(vk, device);
  Chain(basic.apiVersion, !has_13 && HasExtension(vk, device, kDotExtension),
        has_matrix);
  vk.GetPhysicalDeviceFeatures2(device, &core);
  vk.GetPhysicalDeviceProperties2(device, &properties);
  if (has_13) return;
  // Features that became part of Vulkan 1.3 are copied to its structures, so
  // that other code reads them only there.
  v13.shaderIntegerDotProduct = dot.shaderIntegerDotProduct;
#define EMBER_COPY(property) p13.property = dot_properties.property
  EMBER_COPY(integerDotProduct4x8BitPackedSignedAccelerated);
  EMBER_COPY(integerDotProduct4x8BitPackedUnsignedAccelerated);
  EMBER_COPY(integerDotProduct4x8BitPackedMixedSignednessAccelerated);
#undef EMBER_COPY
}

const void* FeatureSet::Request(const FeatureSet& available) {
  const bool has_matrix = available.matrix.cooperativeMatrix != VK_FALSE;
  const bool has_dot = available.version() < VK_API_VERSION_1_3 &&
                       available.v13.shaderIntegerDotProduct != VK_FALSE;
  Chain(available.version(), has_dot, has_matrix);
  for (const Feature& feature : kFeatures) {
    if (feature.bit != nullptr && feature.IsIn(available))
      feature.bit(*this) = VK_TRUE;
  }
  // Timeline semaphores are always enabled, because fences need them; every
  // device of version 1.2 has them.
  v12.timelineSemaphore = VK_TRUE;
  v13.subgroupSizeControl = available.v13.subgroupSizeControl;
  v13.computeFullSubgroups = available.v13.computeFullSubgroups;
  // Modules that use Vulkan's memory model contain atomics of device scope, for
  // which this feature must be enabled.
  v12.vulkanMemoryModelDeviceScope = available.v12.vulkanMemoryModelDeviceScope;
  dot.shaderIntegerDotProduct = v13.shaderIntegerDotProduct;
  if (has_dot) extensions_[extension_count_++] = kDotExtension;
  if (has_matrix) extensions_[extension_count_++] = kMatrixExtension;
  return &core;
}

bool FeatureSet::FixesSubgroups() const {
  return v13.subgroupSizeControl != VK_FALSE &&
         v13.computeFullSubgroups != VK_FALSE &&
         (p13.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
}

bool FeatureSet::HasMatrices() const {
  return matrix.cooperativeMatrix != VK_FALSE &&
         v12.vulkanMemoryModel != VK_FALSE && FixesSubgroups() &&
         HasSubgroup(*this, VK_SUBGROUP_FEATURE_BASIC_BIT);
}

std::string FeatureSet::Target() const {
  // The target names at most version 1.3. Newer versions include it, and no
  // feature of theirs is used.
  std::string target =
      version() >= VK_API_VERSION_1_3 ? "vulkan1.3" : "vulkan1.2";
  for (const Feature& feature : kFeatures) {
    if (feature.IsIn(*this)) target += Concat({"+", feature.name});
  }
  if (HasMatrices()) {
    for (const std::string& product : matrix_products)
      target += Concat({"+matrix", product});
  }
  target += Concat({"+subgroup", p11.subgroupSize, "+shared",
                    limits().maxComputeSharedMemorySize, "+invocations",
                    limits().maxComputeWorkGroupInvocations});
  // Mesa's llvmpipe silently ends an invocation's loops after a number of
  // iterations of all its loops together. It executes a load from a storage
  // buffer lane by lane, with a branch for each lane; it loads all lanes at
  // once from a texel buffer.
  if (p12.driverID == VK_DRIVER_ID_MESA_LLVMPIPE) {
    target +=
        Concat({"+iterations65535+texels", limits().maxTexelBufferElements});
  }
  return target;
}

bool HasCapability(const FeatureSet& set, uint32_t capability) {
  switch (static_cast<Capability>(capability)) {
    case Capability::Matrix:
    case Capability::SampledBuffer:
    case Capability::Shader:
      return true;
    case Capability::GroupNonUniform:
      return HasSubgroup(set, VK_SUBGROUP_FEATURE_BASIC_BIT);
    default:
      break;
  }
  return std::any_of(
      std::begin(kFeatures), std::end(kFeatures), [&](const Feature& feature) {
        return std::count(feature.capabilities.begin(),
                          feature.capabilities.end(), capability) > 0 &&
               feature.IsIn(set);
      });
}

}  // namespace ember::hal::vulkan
