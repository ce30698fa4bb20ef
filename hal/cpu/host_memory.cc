#include "hal/cpu/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/concat.h"
#include "base/page_hints.h"
#include "base/rounding.h"

namespace ember::hal {
namespace {

constexpr int64_t kAlignment = 64;
// Largest number of bytes of a buffer. Larger ones are refused, because a
// system that overcommits memory might grant them without having the memory.
constexpr uint64_t kMaxBufferBytes =
    std::min<uint64_t>(uint64_t{1} << 40, SIZE_MAX / 2);

constexpr uint64_t kLargePage = uint64_t{2} << 20;
// A number of bytes that is a multiple of the size of a normal (small) page on
// every system.
constexpr uint64_t kSmallPage = uint64_t{64} << 10;
// The last large page of a block may have at most this many unused bytes. If it
// would have more, small pages are used for the end of the block.
constexpr uint64_t kMaxWaste = kLargePage / 8;
// Offset in bytes of a buffer in its block. It differs from the start of a
// large page, where mapped files begin: tensors at the same offset of their
// large pages may evict each other from a cache. Without the offset ShuffleNet
// took 1.05 times as long.
constexpr uint64_t kBegin = 3 << 12;

bool IsAligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kAlignment == 0;
}

// A block of zeroed memory that begins at a large page and consists of as few
// pages as the system allows. Large pages are mapped in at most a third of the
// time. They also need fewer address translations, because tensors are accessed
// from one end to the other.
class LargeBlock {
 public:
  // True if a buffer of this size fills at least one large page, or all but
  // kMaxWaste bytes of it. Smaller buffers do not get a LargeBlock.
  static bool Suits(int64_t bytes) {
    return static_cast<uint64_t>(bytes) + kBegin >= kLargePage - kMaxWaste;
  }
  // Maps the memory of a block. Returns null if the system has no memory left.
  static void* Map(int64_t bytes) {
    const uint64_t size = SizeFor(bytes);
    // More memory is mapped than needed, so that the block can begin at a large
    // page; the rest is unmapped.
    void* const mapped =
        mmap(nullptr, static_cast<size_t>(size + kLargePage),
             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    const auto address = reinterpret_cast<uintptr_t>(mapped);
    const uint64_t before = RoundUp(address, kLargePage) - address;
    uint8_t* const begin = static_cast<uint8_t*>(mapped) + before;
    if (before > 0) munmap(mapped, static_cast<size_t>(before));
    munmap(begin + size, static_cast<size_t>(kLargePage - before));
#ifdef MADV_HUGEPAGE
    // The system is asked for large pages. It may ignore that: the block works
    // with small pages, too.
    madvise(begin, static_cast<size_t>(size / kLargePage * kLargePage),
            MADV_HUGEPAGE);
#endif
    return begin + kBegin;
  }
  static void Unmap(void* block, int64_t bytes) {
    munmap(static_cast<uint8_t*>(block) - kBegin,
           static_cast<size_t>(SizeFor(bytes)));
  }

 private:
  static uint64_t SizeFor(int64_t bytes) {
    const uint64_t least = static_cast<uint64_t>(bytes) + kBegin;
    const uint64_t size = RoundUp(least, kLargePage);
    if (size - least <= kMaxWaste) return size;
    return RoundUp(least, kSmallPage);
  }
};

class HostBuffer final : public Buffer {
 public:
  // Makes a buffer that owns its memory. `data` is where the buffer begins;
  // `block` is the address to free: what calloc, LargeBlock or the allocator
  // returned.
  HostBuffer(int64_t size, void* data, void* block,
             const HostAllocator& allocator, MemoryCounter& memory)
      : Buffer(size, data),
        block_(block),
        allocator_(allocator),
        memory_(memory) {}
  ~HostBuffer() override {
    if (allocator_.is_set()) {
      allocator_.release(allocator_.context, block_, AllocatedBytes(size()));
    } else if (LargeBlock::Suits(size())) {
      LargeBlock::Unmap(block_, size());
    } else {
      std::free(block_);
    }
    memory_.Give(size());
  }

  // Returns the number of bytes to request from an allocator. It is at least
  // one, because an allocator need not support requests for zero bytes.
  static size_t AllocatedBytes(int64_t size) {
    return static_cast<size_t>(std::max<int64_t>(size, 1));
  }

 private:
  void* block_;
  const HostAllocator& allocator_;
  MemoryCounter& memory_;
};

// Returns zeroed memory.
void* AllocateBlock(int64_t size, const HostAllocator& allocator) {
  if (!allocator.is_set()) {
    return LargeBlock::Suits(size)
               ? LargeBlock::Map(size)
               : std::calloc(1, static_cast<size_t>(size + kAlignment));
  }
  const size_t bytes = HostBuffer::AllocatedBytes(size);
  void* const block = allocator.allocate(allocator.context, bytes, kAlignment);
  if (block != nullptr && IsAligned(block)) std::memset(block, 0, bytes);
  return block;
}

}  // namespace

StatusOr<std::unique_ptr<Buffer>> AllocateHostBuffer(
    int64_t size, const HostAllocator& allocator, MemoryCounter& memory) {
  EMBER_RETURN_IF_ERROR(memory.Take(size));
  void* const block = static_cast<uint64_t>(size) > kMaxBufferBytes
                          ? nullptr
                          : AllocateBlock(size, allocator);
  if (block == nullptr) {
    memory.Give(size);
    return ResourceExhaustedError(
        Concat({"buffer: expected ", size, " bytes of memory, found less"}));
  }
  // Memory from the caller's allocator must be aligned, or it is refused.
  // Memory that is allocated here has additional bytes, so the buffer can begin
  // at an aligned address in it.
  if (allocator.is_set() && !IsAligned(block)) {
    allocator.release(allocator.context, block,
                      HostBuffer::AllocatedBytes(size));
    memory.Give(size);
    static_assert(kAlignment == 64);
    return InvalidArgumentError(
        "allocator: expected memory aligned to 64 bytes, found an address that "
        "is not");
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  // The pages are made resident now, so that a session's first run does not
  // have to wait for page faults.
  TouchPages(block, static_cast<size_t>(size));
  void* const data = reinterpret_cast<void*>(RoundUp(address, kAlignment));
  return std::unique_ptr<Buffer>(
      std::make_unique<HostBuffer>(size, data, block, allocator, memory));
}

}  // namespace ember::hal
