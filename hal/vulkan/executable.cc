#include "hal/vulkan/executable.h"

#include <cstring>
#include <spirv/unified1/spirv.hpp11>
#include <vector>

#include "base/concat.h"
#include "hal/executable_checks.h"
#include "hal/vulkan/cooperative_matrix.h"
#include "hal/vulkan/spirv_module.h"

namespace ember::hal::vulkan {
namespace {

constexpr int64_t kParameterBytes = 8;

// Returns the newest version of SPIR-V that a device of this Vulkan version
// supports.
uint32_t NewestSpirv(const FeatureSet& features) {
  return features.version() >= VK_API_VERSION_1_3 ? 0x00010600 : 0x00010500;
}

Status CheckModule(const PhysicalDevice& device, const SpirvModule& module) {
  const FeatureSet& features = *device.features;
  if (module.version > NewestSpirv(features)) {
    return InvalidArgumentError(
        Concat({"expected SPIR-V of at most version 1.",
                NewestSpirv(features) >> 8 & 0xff, " on this device, found ",
                module.version >> 16, ".", module.version >> 8 & 0xff}));
  }
  for (uint32_t capability : module.capabilities) {
    if (!HasCapability(features, capability)) {
      return InvalidArgumentError(
          Concat({"needs SPIR-V's capability ", capability,
                  ", expected one that this device has: ", features.Target()}));
    }
  }
  const VkPhysicalDeviceLimits& limits = features.limits();
  uint64_t invocations = 1;
  for (size_t i = 0; i < module.workgroup.size(); ++i) {
    invocations *= module.workgroup[i];
    if (module.workgroup[i] > limits.maxComputeWorkGroupSize[i]) {
      return ResourceExhaustedError(
          Concat({"expected at most ", limits.maxComputeWorkGroupSize[i],
                  " invocations in dimension ", i, " of a workgroup, found ",
                  module.workgroup[i]}));
    }
  }
  if (invocations > limits.maxComputeWorkGroupInvocations) {
    return ResourceExhaustedError(
        Concat({"expected at most ", limits.maxComputeWorkGroupInvocations,
                " invocations in a workgroup, found ", invocations}));
  }
  return OkStatus();
}

// True if the pipeline must be made with a fixed subgroup size. That is
// necessary if the module uses subgroups, because the device could otherwise
// choose another size than the target names.
bool WantsFixedSubgroups(const FeatureSet& features,
                         const SpirvModule& module) {
  return features.v13.subgroupSizeControl != VK_FALSE &&
         (features.p13.requiredSubgroupSizeStages &
          VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
         module.Declares(
             static_cast<uint32_t>(spv::Capability::GroupNonUniform));
}

// True if the pipeline must have full subgroups, because the module multiplies
// matrices, and if the device can guarantee them.
bool WantsFullSubgroups(const FeatureSet& features, const SpirvModule& module) {
  const uint32_t size = features.p11.subgroupSize;
  return module.Declares(kCooperativeMatrixCapability) &&
         features.FixesSubgroups() && size > 0 &&
         module.workgroup[0] % size == 0;
}

}  // namespace

Status VulkanExecutable::SetFormats(const SpirvModule& module) {
  texel_formats_.resize(static_cast<size_t>(binding_count()),
                        VK_FORMAT_UNDEFINED);
  for (const SpirvModule::TexelBuffer& buffer : module.texel_buffers) {
    VkFormat format = VK_FORMAT_UNDEFINED;
    switch (static_cast<spv::ImageFormat>(buffer.format)) {
      case spv::ImageFormat::R32ui:
        format = VK_FORMAT_R32_UINT;
        break;
      case spv::ImageFormat::Rgba32ui:
        format = VK_FORMAT_R32G32B32A32_UINT;
        break;
      default:
        break;
    }
    if (format == VK_FORMAT_UNDEFINED ||
        buffer.binding >= texel_formats_.size()) {
      return InvalidArgumentError(
          Concat({"expected texel buffers of format R32ui or Rgba32ui among ",
                  binding_count(), " bindings, found format ", buffer.format,
                  " of binding ", buffer.binding}));
    }
    texel_formats_[buffer.binding] = format;
  }
  return OkStatus();
}

Status VulkanExecutable::MakeLayout(Context& context) {
  const DeviceFunctions& vk = context.vk();
  std::vector<VkDescriptorSetLayoutBinding> bindings(
      static_cast<size_t>(binding_count()));
  for (uint32_t i = 0; i < bindings.size(); ++i) {
    bindings[i] = {
        .binding = i,
        .descriptorType = texel_formats_[i] == VK_FORMAT_UNDEFINED
                              ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                              : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
        .descriptorCount = 1,
        .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
  }
  if (!bindings.empty()) {
    const VkDescriptorSetLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = static_cast<uint32_t>(bindings.size()),
        .pBindings = bindings.data()};
    EMBER_ASSIGN_OR_RETURN(
        set_layout_,
        Create<OwnedSetLayout>(context, "vkCreateDescriptorSetLayout",
                               vk.CreateDescriptorSetLayout, info));
  }
  const VkDescriptorSetLayout set = set_layout_.get();
  const VkPushConstantRange constants = {
      .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
      .size = static_cast<uint32_t>(parameter_count() * kParameterBytes)};
  const VkPipelineLayoutCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
      .setLayoutCount = bindings.empty() ? 0u : 1u,
      .pSetLayouts = &set,
      .pushConstantRangeCount = parameter_count() == 0 ? 0u : 1u,
      .pPushConstantRanges = &constants};
  EMBER_ASSIGN_OR_RETURN(
      layout_, Create<OwnedPipelineLayout>(context, "vkCreatePipelineLayout",
                                           vk.CreatePipelineLayout, info));
  return OkStatus();
}

StatusOr<std::unique_ptr<VulkanExecutable>> VulkanExecutable::Load(
    Context& context, VkPipelineCache cache, const DeviceLimits& limits,
    const ExecutableDefinition& definition) {
  const std::string name = Concat({"executable '", definition.name, "'"});
  if (definition.format != "spirv") {
    return UnimplementedError(
        Concat({"vulkan device: ", name, ": expected format 'spirv', found '",
                definition.format, "'"}));
  }
  if (Status status = CheckCounts(limits, definition); !status.ok())
    return status.WithContext(name);
  // SPIR-V is read as 32-bit words, but the bytes of the definition need not be
  // aligned, so they are copied.
  std::vector<uint32_t> words(definition.code.size() / 4);
  if (words.size() * 4 != definition.code.size()) {
    return InvalidArgumentError(
        Concat({name, ": expected SPIR-V, whole words of 4 bytes, found ",
                definition.code.size(), " bytes"}));
  }
  std::memcpy(words.data(), definition.code.data(), definition.code.size());
  StatusOr<SpirvModule> module = InspectSpirv(words, definition.entry_point);
  if (!module.ok()) return module.status().WithContext(name);
  if (Status status = CheckModule(context.physical(), *module); !status.ok())
    return status.WithContext(name);

  std::unique_ptr<VulkanExecutable> executable(
      new VulkanExecutable(definition));
  if (Status status = executable->SetFormats(*module); !status.ok())
    return status.WithContext(name);
  EMBER_RETURN_IF_ERROR(executable->MakeLayout(context));
  const VkShaderModuleCreateInfo code = {
      .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
      .codeSize = words.size() * 4,
      .pCode = words.data()};
  EMBER_ASSIGN_OR_RETURN(
      const OwnedShaderModule shader,
      Create<OwnedShaderModule>(context, "vkCreateShaderModule",
                                context.vk().CreateShaderModule, code));
  const FeatureSet& features = *context.physical().features;
  const VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroups = {
      .sType =
          VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
      .requiredSubgroupSize = features.p11.subgroupSize};
  const VkComputePipelineCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
      .stage =
          {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
           .pNext =
               WantsFixedSubgroups(features, *module) ? &subgroups : nullptr,
           .flags =
               WantsFullSubgroups(features, *module)
                   ? VkPipelineShaderStageCreateFlags(
                         VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT)
                   : 0,
           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
           .module = shader.get(),
           .pName = definition.entry_point.c_str()},
      .layout = executable->layout()};
  VkPipeline pipeline = VK_NULL_HANDLE;
  if (Status status = context.Check(
          "vkCreateComputePipelines",
          context.vk().CreateComputePipelines(context.device(), cache, 1, &info,
                                              nullptr, &pipeline));
      !status.ok())
    return status.WithContext(name);
  executable->pipeline_ = OwnedPipeline(context, pipeline);
  return executable;
}

}  // namespace ember::hal::vulkan
