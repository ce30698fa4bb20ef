#include "hal/cpu/host_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/concat.h"
#include "base/page_hints.h"

namespace ember::hal {
namespace {

constexpr int64_t kAlignment = 64;
// No machine has more; systems that overcommit would say yes.
constexpr uint64_t kMaxBufferBytes =
    std::min<uint64_t>(uint64_t{1} << 40, SIZE_MAX / 2);

class HostBuffer final : public Buffer {
 public:
  // block: what calloc or the allocator gave.
  HostBuffer(int64_t size, void* data, void* block,
             const HostAllocator& allocator, MemoryCounter& memory)
      : Buffer(size, data),
        block_(block),
        allocator_(allocator),
        memory_(memory) {}
  ~HostBuffer() override {
    if (allocator_.is_set()) {
      allocator_.release(allocator_.context, block_, AllocatedBytes(size()));
    } else {
      std::free(block_);
    }
    memory_.Give(size());
  }

  // Of an allocator, which need not know what no bytes are.
  static size_t AllocatedBytes(int64_t size) {
    return static_cast<size_t>(std::max<int64_t>(size, 1));
  }

 private:
  void* block_;
  const HostAllocator& allocator_;
  MemoryCounter& memory_;
};

// What tensors of models lie in is read and written from one end to the other:
// fewer pages are fewer translations of addresses.
void PreferLargePages(uintptr_t begin, uint64_t size) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
  const uintptr_t first = (begin + kLargePage - 1) / kLargePage * kLargePage;
  const uintptr_t end = (begin + size) / kLargePage * kLargePage;
  // A wish: small pages work as well.
  if (first < end)
    madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
#else
  static_cast<void>(begin);
  static_cast<void>(size);
#endif
}

// Zeroed.
void* AllocateBlock(int64_t size, const HostAllocator& allocator) {
  // calloc, as it gives large blocks as fresh pages that cost nothing until
  // they are touched.
  if (!allocator.is_set())
    return std::calloc(1, static_cast<size_t>(size + kAlignment));
  const size_t bytes = HostBuffer::AllocatedBytes(size);
  void* const block = allocator.allocate(allocator.context, bytes, kAlignment);
  if (block != nullptr) std::memset(block, 0, bytes);
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
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  PreferLargePages(address, static_cast<uint64_t>(size));
  // So that a session's first run need not.
  TouchPages(block, static_cast<size_t>(size));
  void* const data = reinterpret_cast<void*>((address + kAlignment - 1) /
                                             kAlignment * kAlignment);
  return std::unique_ptr<Buffer>(
      std::make_unique<HostBuffer>(size, data, block, allocator, memory));
}

}  // namespace ember::hal
