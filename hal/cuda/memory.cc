#include "hal/cuda/memory.h"

#include <algorithm>

#include "base/concat.h"
#include "hal/free_ranges.h"

namespace ember::hal::cuda {

// A block of pinned host memory, from which pieces are cut. It is freed when
// its last piece is, except that one unused block is kept for later pieces.
struct PinnedBlock {
  PinnedBlock(Context& context_of_it, uint64_t size)
      : context(context_of_it), bytes(size), free(size) {}
  ~PinnedBlock() {
    if (host == nullptr) return;
    const Context::Current current(context);
    if (current.status().ok()) context.cu().MemFreeHost(host);
  }

  Context& context;
  const uint64_t bytes;
  FreeRanges free;
  uint8_t* host = nullptr;
  CUdeviceptr address = 0;
};

namespace {

// Alignment of Buffer::host_data() in bytes.
constexpr uint64_t kAlignment = 64;
constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
// Largest number of bytes of a piece that shares a block with other pieces. A
// larger piece gets its own block.
constexpr uint64_t kLargestShare = kBlockBytes / 4;

}  // namespace

StatusOr<std::unique_ptr<Memory>> Memory::Create(Context& context) {
  std::unique_ptr<Memory> memory(new Memory(context));
  if (!context.properties().has_memory_pools) return memory;
  const Context::Current current(context);
  EMBER_RETURN_IF_ERROR(current.status());
  CUmemPoolProps properties;
  properties.allocType = kAllocationTypePinned;
  properties.location = {kLocationTypeDevice, context.device()};
  CUmemoryPool pool = nullptr;
  EMBER_RETURN_IF_ERROR(context.Check(
      "cuMemPoolCreate", context.cu().MemPoolCreate(&pool, &properties)));
  memory->pool_ = pool;
  // This threshold makes the pool keep all freed memory for later allocations.
  // By default it would return the memory to the system at each
  // synchronisation.
  uint64_t threshold = UINT64_MAX;
  EMBER_RETURN_IF_ERROR(context.Check(
      "cuMemPoolSetAttribute", context.cu().MemPoolSetAttribute(
                                   pool, kPoolReleaseThreshold, &threshold)));
  return memory;
}

Memory::Memory(Context& context) : context_(context) {}

Memory::~Memory() {
  blocks_.clear();
  if (pool_ == nullptr) return;
  const Context::Current current(context_);
  if (current.status().ok()) context_.cu().MemPoolDestroy(pool_);
}

StatusOr<MemoryPiece> Memory::Allocate(uint64_t bytes, MemoryKind kind) {
  EMBER_RETURN_IF_ERROR(context_.Alive());
  const uint64_t rounded =
      (std::max<uint64_t>(bytes, 1) + kAlignment - 1) & ~(kAlignment - 1);
  StatusOr<MemoryPiece> piece = kind == MemoryKind::kHostVisible
                                    ? AllocatePinned(rounded)
                                    : AllocateOnDevice(rounded);
  if (piece.ok()) return piece;
  return piece.status().WithContext(
      Concat({"buffer: a request for ", bytes, " bytes"}));
}

StatusOr<MemoryPiece> Memory::AllocateOnDevice(uint64_t bytes) {
  const Context::Current current(context_);
  EMBER_RETURN_IF_ERROR(current.status());
  const Functions& cu = context_.cu();
  MemoryPiece piece = {.bytes = bytes};
  if (pool_ == nullptr) {
    EMBER_RETURN_IF_ERROR(
        context_.Check("cuMemAlloc", cu.MemAlloc(&piece.address, bytes)));
  } else {
    EMBER_RETURN_IF_ERROR(
        context_.Check("cuMemAllocFromPoolAsync",
                       cu.MemAllocFromPoolAsync(&piece.address, bytes, pool_,
                                                context_.stream())));
  }
  return piece;
}

StatusOr<PinnedBlock*> Memory::AddBlock(uint64_t bytes) {
  const Context::Current current(context_);
  EMBER_RETURN_IF_ERROR(current.status());
  const Functions& cu = context_.cu();
  auto block = std::make_unique<PinnedBlock>(context_, bytes);
  void* host = nullptr;
  EMBER_RETURN_IF_ERROR(context_.Check(
      "cuMemHostAlloc",
      cu.MemHostAlloc(&host, bytes, kHostAllocPortable | kHostAllocDeviceMap)));
  block->host = static_cast<uint8_t*>(host);
  EMBER_RETURN_IF_ERROR(
      context_.Check("cuMemHostGetDevicePointer",
                     cu.MemHostGetDevicePointer(&block->address, host, 0)));
  blocks_.push_back(std::move(block));
  return blocks_.back().get();
}

StatusOr<MemoryPiece> Memory::AllocatePinned(uint64_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto piece_of = [&](PinnedBlock& block, uint64_t offset) {
    return MemoryPiece{.address = block.address + offset,
                       .bytes = bytes,
                       .host = block.host + offset,
                       .block = &block};
  };
  const bool is_small = bytes <= kLargestShare;
  if (is_small) {
    for (const std::unique_ptr<PinnedBlock>& block : blocks_) {
      if (block->bytes != kBlockBytes) continue;
      if (const auto offset = block->free.Take(bytes, kAlignment))
        return piece_of(*block, *offset);
    }
  }
  EMBER_ASSIGN_OR_RETURN(PinnedBlock* const block,
                         AddBlock(is_small ? kBlockBytes : bytes));
  return piece_of(*block, *block->free.Take(bytes, kAlignment));
}

void Memory::Free(const MemoryPiece& piece) {
  if (piece.block == nullptr) {
    const Context::Current current(context_);
    if (!current.status().ok()) return;
    const Functions& cu = context_.cu();
    if (pool_ != nullptr &&
        cu.MemFreeAsync(piece.address, context_.stream()) == 0)
      return;
    cu.StreamSynchronize(context_.stream());
    cu.MemFree(piece.address);
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  PinnedBlock& block = *piece.block;
  block.free.Give(static_cast<uint64_t>(piece.host - block.host), piece.bytes);
  if (!block.free.is_all_free()) return;
  const auto is_empty_spare = [&](const std::unique_ptr<PinnedBlock>& other) {
    return other.get() != &block && other->bytes == kBlockBytes &&
           other->free.is_all_free();
  };
  if (block.bytes == kBlockBytes &&
      std::none_of(blocks_.begin(), blocks_.end(), is_empty_spare))
    return;
  std::erase_if(blocks_, [&](const std::unique_ptr<PinnedBlock>& other) {
    return other.get() == &block;
  });
}

}  // namespace ember::hal::cuda
