// Command lists of a Vulkan device.
//
// Commands are recorded directly into a VkCommandBuffer. A list begins with a
// barrier that waits for all earlier submissions, and ends with a barrier that
// makes its writes visible to the host. If more commands are recorded after a
// submission, the list gets another command buffer; all its command buffers are
// submitted together.
#ifndef EMBER_HAL_VULKAN_COMMAND_LIST_H_
#define EMBER_HAL_VULKAN_COMMAND_LIST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/command_list.h"
#include "hal/device_limits.h"
#include "hal/vulkan/buffer.h"
#include "hal/vulkan/context.h"
#include "hal/vulkan/descriptor_sets.h"

namespace ember::hal::vulkan {

// A constant buffer, made once per device, from which commands copy: a fill of
// up to kMaxBytes bytes is a copy from this buffer.
class FillBytes {
 public:
  static StatusOr<std::unique_ptr<FillBytes>> Create(Context& context,
                                                     DeviceMemory& memory);
  static constexpr int64_t kMaxBytes = 3;

  VkBuffer buffer() const { return buffer_->handle(); }
  // Returns an offset in the buffer from which kMaxBytes bytes all have this
  // value.
  static VkDeviceSize OffsetOf(uint8_t value) {
    return VkDeviceSize{4} * value;
  }

 private:
  std::unique_ptr<VulkanBuffer> buffer_;
};

class VulkanCommandList final : public CommandList {
 public:
  // Makes an empty list. The arguments must outlive the list.
  static StatusOr<std::unique_ptr<VulkanCommandList>> Create(
      Context& context, const DeviceLimits& limits,
      const FillBytes& fill_bytes);
  // Waits until all submissions of the list are complete.
  ~VulkanCommandList() override;

  Status Copy(const BufferRange& source, const BufferRange& target) override;
  Status Fill(const BufferRange& target, uint8_t value) override;
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override;
  Status Barrier() override;

  // Submits the list and returns the number of the submission. Thread-safe.
  StatusOr<uint64_t> Submit() const;

 private:
  VulkanCommandList(Context& context, const DeviceLimits& limits,
                    const FillBytes& fill_bytes)
      : context_(context),
        limits_(limits),
        fill_bytes_(fill_bytes),
        sets_(context) {}

  // Returns the command buffer into which commands are recorded. Begins a new
  // one if none is being recorded.
  StatusOr<VkCommandBuffer> Open();
  Status Close() const;
  void CopyRegion(VkCommandBuffer commands, VkBuffer source,
                  VkDeviceSize source_offset, VkBuffer target,
                  VkDeviceSize target_offset, VkDeviceSize bytes);

  StatusOr<VkBufferView> ViewOf(const VkDescriptorBufferInfo& range,
                                VkFormat format);

  Context& context_;
  const DeviceLimits& limits_;
  const FillBytes& fill_bytes_;
  OwnedCommandPool pool_;
  // Views of the texel buffers that the commands use. The member comes before
  // sets_, so that it is destroyed after the descriptor sets that use the
  // views.
  std::vector<OwnedBufferView> views_;
  DescriptorSets sets_;

  // The members below are mutable because Submit is const: a submission does
  // not change the list's commands.
  mutable std::mutex mutex_;  // Guards the members below, which Submit changes.
  // true while the last command buffer is being recorded
  mutable bool is_open_ = false;
  // The error with which a command buffer could not be ended. If there is one,
  // the list cannot be used any more.
  mutable Status problem_;
  mutable uint64_t last_submission_ = 0;
  // Command buffers of the list; the pool owns them.
  std::vector<VkCommandBuffer> buffers_;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_COMMAND_LIST_H_
