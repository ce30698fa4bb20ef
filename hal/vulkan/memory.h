// Allocates a device's memory for buffers. Small buffers share blocks of
// memory, because a Vulkan driver allows only some thousand allocations; each
// large buffer has a block of its own.
//
//   EMBER_ASSIGN_OR_RETURN(MemoryPiece piece,
//                          memory.Allocate(requirements, kind));
//   …
//   memory.Free(piece);
//
// Errors: ResourceExhausted, with the number of requested bytes. Thread-safe.
#ifndef EMBER_HAL_VULKAN_MEMORY_H_
#define EMBER_HAL_VULKAN_MEMORY_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/free_ranges.h"
#include "hal/vulkan/context.h"

namespace ember::hal::vulkan {

struct MemoryBlock;

struct MemoryPiece {
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  // Host address of the piece; null if the host cannot access it.
  uint8_t* mapped = nullptr;
  MemoryBlock* block = nullptr;
};

class DeviceMemory {
 public:
  // Makes an allocator of the device's memory. `context` must outlive it. Host
  // addresses of pieces are multiples of 64.
  explicit DeviceMemory(Context& context);
  // All pieces must have been freed before the memory is destroyed.
  ~DeviceMemory();

  StatusOr<MemoryPiece> Allocate(const VkMemoryRequirements& requirements,
                                 MemoryKind kind);
  void Free(const MemoryPiece& piece);

  // Returns the largest size of a single buffer in bytes.
  uint64_t max_buffer_bytes() const { return max_buffer_bytes_; }

  // Returns the number of VkDeviceMemory objects that exist, for tests.
  int64_t block_count() const;

 private:
  StatusOr<MemoryPiece> AllocateIn(uint32_t type,
                                   const VkMemoryRequirements& requirements);
  StatusOr<MemoryBlock*> AddBlock(uint32_t type, uint64_t bytes);
  uint64_t BlockBytes(uint32_t type) const;

  Context& context_;
  uint64_t max_buffer_bytes_ = 0;

  mutable std::mutex mutex_;  // guards blocks_
  std::vector<std::unique_ptr<MemoryBlock>> blocks_;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_MEMORY_H_
