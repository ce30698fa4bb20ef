#include "hal/vulkan/descriptor_sets.h"

#include <algorithm>

namespace ember::hal::vulkan {
namespace {

// Lists of one dispatch are as common as those of a whole model.
constexpr uint32_t kFirstSets = 4;
constexpr uint32_t kMostSets = 256;
constexpr uint32_t kDescriptorsPerSet = 4;

}  // namespace

Status DescriptorSets::AddPool(uint32_t descriptors) {
  const uint32_t sets =
      std::min(kMostSets, kFirstSets << std::min<size_t>(pools_.size(), 8));
  const VkDescriptorPoolSize size = {
      .type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
      .descriptorCount = std::max(sets * kDescriptorsPerSet, descriptors)};
  const VkDescriptorPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
      .maxSets = sets,
      .poolSizeCount = 1,
      .pPoolSizes = &size};
  EMBER_ASSIGN_OR_RETURN(
      OwnedDescriptorPool pool,
      Create<OwnedDescriptorPool>(context_, "vkCreateDescriptorPool",
                                  context_.vk().CreateDescriptorPool, info));
  pools_.push_back(std::move(pool));
  free_sets_ = sets;
  free_descriptors_ = size.descriptorCount;
  return OkStatus();
}

StatusOr<VkDescriptorSet> DescriptorSets::Make(
    VkDescriptorSetLayout layout,
    std::span<const VkDescriptorBufferInfo> buffers) {
  const uint32_t count = static_cast<uint32_t>(buffers.size());
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
  // Bindings follow each other: one write goes on with the next binding.
  const VkWriteDescriptorSet write = {
      .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
      .dstSet = set,
      .descriptorCount = count,
      .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
      .pBufferInfo = buffers.data()};
  context_.vk().UpdateDescriptorSets(context_.device(), 1, &write, 0, nullptr);
  return set;
}

}  // namespace ember::hal::vulkan
