// Allocates the descriptor sets of one command list from pools that grow with
// it.
//
//   EMBER_ASSIGN_OR_RETURN(VkDescriptorSet set,
//                          sets.Make(layout, buffer_infos));
//
// Sets live as long as this object. Thread-compatible.
#ifndef EMBER_HAL_VULKAN_DESCRIPTOR_SETS_H_
#define EMBER_HAL_VULKAN_DESCRIPTOR_SETS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/vulkan/context.h"

namespace ember::hal::vulkan {

class DescriptorSets {
 public:
  // Makes an object without pools. `context` must outlive it.
  explicit DescriptorSets(Context& context) : context_(context) {}

  // A buffer to be bound to a kernel: a storage buffer, or a texel buffer with
  // its view.
  struct Binding {
    VkDescriptorBufferInfo buffer;
    // View of a texel buffer; null for a storage buffer.
    VkBufferView view = VK_NULL_HANDLE;
  };
  // Allocates a set and writes its bindings. `layout` has the bindings 0 …
  // bindings.size() - 1. The views of texel buffers must outlive the set.
  StatusOr<VkDescriptorSet> Make(VkDescriptorSetLayout layout,
                                 std::span<const Binding> bindings);

 private:
  Status AddPool(uint32_t descriptors);

  Context& context_;
  std::vector<OwnedDescriptorPool> pools_;
  // Numbers of sets and of descriptors that can still be allocated from the
  // last pool.
  uint32_t free_sets_ = 0, free_descriptors_ = 0;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_DESCRIPTOR_SETS_H_
