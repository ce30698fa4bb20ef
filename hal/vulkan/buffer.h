// A buffer of a Vulkan device: each has a VkBuffer of its own, in a piece of
// memory that may be shared with other buffers.
#ifndef EMBER_HAL_VULKAN_BUFFER_H_
#define EMBER_HAL_VULKAN_BUFFER_H_

#include <cstdint>
#include <memory>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/memory_counter.h"
#include "hal/vulkan/context.h"
#include "hal/vulkan/memory.h"

namespace ember::hal::vulkan {

class VulkanBuffer final : public Buffer {
 public:
  // Makes a buffer that is not yet zeroed and not yet counted in the memory's
  // limit. `shows_host`: true if host_data() returns the memory's address. All
  // arguments must outlive the buffer.
  static StatusOr<std::unique_ptr<VulkanBuffer>> Create(Context& context,
                                                        DeviceMemory& memory,
                                                        int64_t size,
                                                        MemoryKind kind,
                                                        bool shows_host);
  ~VulkanBuffer() override;

  VkBuffer handle() const { return handle_.get(); }

  // Counts the buffer's bytes in the counter, which must outlive the buffer.
  // The destructor subtracts them again.
  void CountIn(MemoryCounter& counter) { counter_ = &counter; }
  // Sets the number of the submission that zeroes the buffer. The destructor
  // waits for this submission.
  void set_zeroing(uint64_t submission) { zeroing_ = submission; }

 private:
  VulkanBuffer(Context& context, DeviceMemory& memory, int64_t size,
               OwnedBuffer handle, const MemoryPiece& piece, bool shows_host)
      : Buffer(size, shows_host ? piece.mapped : nullptr),
        context_(context),
        memory_(memory),
        handle_(std::move(handle)),
        piece_(piece) {}

  Context& context_;
  DeviceMemory& memory_;
  OwnedBuffer handle_;
  const MemoryPiece piece_;
  MemoryCounter* counter_ = nullptr;
  uint64_t zeroing_ = 0;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_BUFFER_H_
