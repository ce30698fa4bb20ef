#include "hal/vulkan/buffer.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::hal::vulkan {

StatusOr<std::unique_ptr<VulkanBuffer>> VulkanBuffer::Create(
    Context& context, DeviceMemory& memory, int64_t size, MemoryKind kind,
    bool shows_host) {
  // The size of a VkBuffer is a multiple of this number of bytes: a VkBuffer
  // must have at least one byte, and fills need multiples of 4.
  constexpr uint64_t kUnit = 4;
  const uint64_t bytes = std::max<uint64_t>(
      (static_cast<uint64_t>(size) + kUnit - 1) & ~(kUnit - 1), kUnit);
  if (bytes > memory.max_buffer_bytes()) {
    return ResourceExhaustedError(
        Concat({"buffer: expected at most ", memory.max_buffer_bytes(),
                " bytes, the most of one buffer on vulkan device '",
                context.physical().properties().deviceName,
                "', found a request for ", size}));
  }
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = bytes,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
               VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE};
  EMBER_ASSIGN_OR_RETURN(
      OwnedBuffer handle,
      vulkan::Create<OwnedBuffer>(context, "vkCreateBuffer",
                                  context.vk().CreateBuffer, info));
  VkMemoryRequirements requirements;
  context.vk().GetBufferMemoryRequirements(context.device(), handle.get(),
                                           &requirements);
  EMBER_ASSIGN_OR_RETURN(const MemoryPiece piece,
                         memory.Allocate(requirements, kind));
  std::unique_ptr<VulkanBuffer> buffer(new VulkanBuffer(
      context, memory, size, std::move(handle), piece, shows_host));
  EMBER_RETURN_IF_ERROR(context.Check(
      "vkBindBufferMemory",
      context.vk().BindBufferMemory(context.device(), buffer->handle(),
                                    piece.memory, piece.offset)));
  return buffer;
}

VulkanBuffer::~VulkanBuffer() {
  context_.Finish(zeroing_);
  // The VkBuffer must be destroyed before the memory that is bound to it is
  // freed.
  handle_ = OwnedBuffer();
  memory_.Free(piece_);
  if (counter_ != nullptr)
    counter_->Give(size(), /*is_hidden=*/host_data() == nullptr);
}

}  // namespace ember::hal::vulkan
