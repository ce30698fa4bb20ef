#include "hal/vulkan/memory.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::hal::vulkan {

struct MemoryBlock {
  MemoryBlock(OwnedMemory owned, uint32_t type_number, uint64_t bytes)
      : memory(std::move(owned)), type(type_number), free(bytes) {}

  OwnedMemory memory;
  uint32_t type;
  uint8_t* mapped = nullptr;
  FreeRanges free;
};

namespace {

// Alignment of Buffer::host_data() in bytes.
constexpr uint64_t kHostAlignment = 64;
constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
// A buffer that is larger than BlockBytes(type) / kSmallPart gets a block of
// its own; smaller ones share blocks.
constexpr uint64_t kSmallPart = 4;

}  // namespace

DeviceMemory::DeviceMemory(Context& context) : context_(context) {
  const FeatureSet& features = *context.physical().features;
  max_buffer_bytes_ = features.p11.maxMemoryAllocationSize;
  if (features.version() >= VK_API_VERSION_1_3) {
    max_buffer_bytes_ =
        std::min<uint64_t>(max_buffer_bytes_, features.p13.maxBufferSize);
  }
}

DeviceMemory::~DeviceMemory() = default;

uint64_t DeviceMemory::BlockBytes(uint32_t type) const {
  const VkPhysicalDeviceMemoryProperties& memory = context_.physical().memory;
  const VkDeviceSize heap =
      memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size;
  return std::min<uint64_t>(kBlockBytes, heap / 64);
}

int64_t DeviceMemory::block_count() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<int64_t>(blocks_.size());
}

StatusOr<MemoryBlock*> DeviceMemory::AddBlock(uint32_t type, uint64_t bytes) {
  const uint32_t most = context_.limits().maxMemoryAllocationCount;
  if (blocks_.size() >= most) {
    return ResourceExhaustedError(Concat(
        {"vulkan device: expected at most ", most,
         " allocations of memory (maxMemoryAllocationCount), found a request "
         "for one more"}));
  }
  const VkMemoryAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
      .allocationSize = bytes,
      .memoryTypeIndex = type};
  EMBER_ASSIGN_OR_RETURN(
      OwnedMemory memory,
      Create<OwnedMemory>(context_, "vkAllocateMemory",
                          context_.vk().AllocateMemory, info));
  auto block = std::make_unique<MemoryBlock>(std::move(memory), type, bytes);
  const VkMemoryPropertyFlags flags =
      context_.physical().memory.memoryTypes[type].propertyFlags;
  if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0 &&
      (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0) {
    void* mapped = nullptr;
    EMBER_RETURN_IF_ERROR(context_.Check(
        "vkMapMemory",
        context_.vk().MapMemory(context_.device(), block->memory.get(), 0,
                                VK_WHOLE_SIZE, 0, &mapped)));
    block->mapped = static_cast<uint8_t*>(mapped);
  }
  blocks_.push_back(std::move(block));
  return blocks_.back().get();
}

StatusOr<MemoryPiece> DeviceMemory::AllocateIn(
    uint32_t type, const VkMemoryRequirements& requirements) {
  const uint64_t alignment = std::max(requirements.alignment, kHostAlignment);
  const uint64_t bytes = requirements.size;
  const uint64_t block_bytes = BlockBytes(type);
  const bool is_small = bytes <= block_bytes / kSmallPart;
  const auto piece_of = [&](MemoryBlock& block, uint64_t offset) {
    return MemoryPiece{
        .memory = block.memory.get(),
        .offset = offset,
        .bytes = bytes,
        .mapped = block.mapped == nullptr ? nullptr : block.mapped + offset,
        .block = &block};
  };
  if (is_small) {
    for (const std::unique_ptr<MemoryBlock>& block : blocks_) {
      if (block->type != type) continue;
      if (const auto offset = block->free.Take(bytes, alignment))
        return piece_of(*block, *offset);
    }
  }
  EMBER_ASSIGN_OR_RETURN(MemoryBlock* const block,
                         AddBlock(type, is_small ? block_bytes : bytes));
  return piece_of(*block, *block->free.Take(bytes, alignment));
}

StatusOr<MemoryPiece> DeviceMemory::Allocate(
    const VkMemoryRequirements& requirements, MemoryKind kind) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Status problem = InternalError(
      "vulkan device: no type of memory is both for buffers and of the kind "
      "wanted");
  for (uint32_t type : context_.physical().memory_types.Types(kind)) {
    if ((requirements.memoryTypeBits >> type & 1) == 0) continue;
    StatusOr<MemoryPiece> piece = AllocateIn(type, requirements);
    if (piece.ok()) return piece;
    problem = piece.status();
    // If a heap is full, the next memory type is tried, which may be in another
    // heap. Any other error is returned.
    if (problem.code() != StatusCode::kResourceExhausted) break;
  }
  return problem.WithContext(
      Concat({"buffer: a request for ", requirements.size, " bytes"}));
}

void DeviceMemory::Free(const MemoryPiece& piece) {
  const std::lock_guard<std::mutex> lock(mutex_);
  MemoryBlock& block = *piece.block;
  block.free.Give(piece.offset, piece.bytes);
  if (!block.free.is_all_free()) return;
  // One empty block of small buffers is kept, so that a program that repeatedly
  // creates and destroys a buffer does not cause an allocation of the driver
  // each time.
  const uint64_t block_bytes = BlockBytes(block.type);
  const auto is_empty_spare = [&](const std::unique_ptr<MemoryBlock>& other) {
    return other.get() != &block && other->type == block.type &&
           other->free.is_all_free();
  };
  if (block.free.free_bytes() == block_bytes &&
      std::none_of(blocks_.begin(), blocks_.end(), is_empty_spare))
    return;
  std::erase_if(blocks_, [&](const std::unique_ptr<MemoryBlock>& other) {
    return other.get() == &block;
  });
}

}  // namespace ember::hal::vulkan
