#include "hal/vulkan/descriptor_sets.h"

#include <algorithm>

namespace ember::hal::vulkan {
namespace {

// Number of sets of the first pool. It is small, because lists of one dispatch
// are as common as lists of a whole model.
constexpr uint32_t kFirstSets = 4;
constexpr uint32_t kMaxSets = 256;
constexpr uint32_t kDescriptorsPerSet = 4;

}  // namespace

Status DescriptorSets::AddPool(uint32_t descriptors) {
  const uint32_t sets =
      std::min(kMaxSets, kFirstSets << std::min<size_t>(pools_.size(), 8));
  // The number of descriptors of each kind (storage buffers, texel buffers) in
  // the pool. It suffices even if all sets use the same kind.
  const uint32_t count = std::max(sets * kDescriptorsPerSet, descriptors);
  const VkDescriptorPoolSize sizes[] = {
      {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, .descriptorCount = count},
      {.type = VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
       .descriptorCount = count}};
  const VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = sets,
      .poolSizeCount = 2,
      .pPoolSizes = sizes};
  EMBER_ASSIGN_OR_RETURN(
      OwnedDescriptorPool pool,
      Create<OwnedDescriptorPool>(context_, "vkCreateDescriptorPool",
                                  context_.vk().CreateDescriptorPool, info));
  pools_.push_back(std::move(pool));
  free_sets_ = sets;
  free_descriptors_ = count;
  return OkStatus();
}

StatusOr<VkDescriptorSet> DescriptorSets::Make(
    VkDescriptorSetLayout layout, std::span<const Binding> bindings) {
  const uint32_t count = static_cast<uint32_t>(bindings.size());
  if (free_sets_ == 0 || free_descriptors_ < count)
    EMBER_RETURN_IF_ERROR(AddPool(count));
  const VkDescriptorSetAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
      .descriptorPool = pools_.back().get(),
      .descriptorSetCount = 1,
      .pSetLayouts = &layout};
  VkDescriptorSet set = VK_NULL_HANDLE;
  EMBER_RETURN_IF_ERROR(context_.Check(
      "vkAllocateDescriptorSets",
      context_.vk().AllocateDescriptorSets(context_.device(), &info, &set)));
  --free_sets_;
  free_descriptors_ -= count;
  std::vector<VkWriteDescriptorSet> writes;
  for (uint32_t i = 0; i < count; ++i) {
    const Binding& binding = bindings[i];
    const bool is_storage = binding.view == VK_NULL_HANDLE;
    writes.push_back(
        {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
         .dstSet = set,
         .dstBinding = i,
         .descriptorCount = 1,
         .descriptorType = is_storage ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
                                      : VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER,
         .pBufferInfo = is_storage ? &binding.buffer : nullptr,
         .pTexelBufferView = is_storage ? nullptr : &binding.view});
  }
  context_.vk().UpdateDescriptorSets(context_.device(), count, writes.data(), 0,
                                     nullptr);
  return set;
}

}  // namespace ember::hal::vulkan
