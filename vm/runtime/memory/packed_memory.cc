#include "vm/runtime/memory/packed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <mutex>

#include "base/rounding.h"

namespace ember::vm {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kLargePage = int64_t{2} << 20;
// Size in bytes of a block that constants share. Until its pages are accessed,
// a block takes address space but no memory.
constexpr int64_t kBlock = int64_t{64} << 20;

class Block {
 public:
  // Maps a block of this number of bytes. Returns null if the system refuses.
  static std::shared_ptr<Block> Map(int64_t bytes) {
    // The size has additional bytes, so that the block can begin at a large
    // page.
    const size_t size =
        static_cast<size_t>(RoundUp(bytes, kLargePage) + kLargePage);
    void* const mapped =
        mmap(nullptr, size, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    return std::shared_ptr<Block>(new Block(mapped, size));
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { munmap(mapped_, size_); }

  // Takes the next `bytes` bytes from the block. Returns null if too few are
  // left.
  void* Take(int64_t bytes) {
    if (bytes > end_ - next_) return nullptr;
    void* const memory = reinterpret_cast<void*>(next_);
    next_ += RoundUp(bytes, kAlignment);
    return memory;
  }

 private:
  Block(void* mapped, size_t size) : mapped_(mapped), size_(size) {
    const auto begin = reinterpret_cast<int64_t>(mapped);
    next_ = RoundUp(begin, kLargePage);
    end_ = begin + static_cast<int64_t>(size);
#ifdef MADV_HUGEPAGE
    // madvise requests large pages. It is only a hint: small pages work as
    // well.
    static_cast<void>(madvise(reinterpret_cast<void*>(next_),
                              static_cast<size_t>(end_ - next_),
                              MADV_HUGEPAGE));
#endif
  }

  void* mapped_;
  size_t size_;
  int64_t next_;
  int64_t end_;
};

struct Current {
  std::mutex mutex;
  std::weak_ptr<Block> block;
};

}  // namespace

std::shared_ptr<void> AllocatePacked(int64_t bytes) {
  // The pointer to the block from which memory is taken is never destroyed,
  // because kernels may be made until the process ends.
  static Current& current = *new Current;
  const std::lock_guard<std::mutex> lock(current.mutex);
  std::shared_ptr<Block> block = current.block.lock();
  void* memory = block == nullptr ? nullptr : block->Take(bytes);
  if (memory == nullptr) {
    block = Block::Map(std::max(bytes, kBlock));
    if (block == nullptr) return nullptr;
    memory = block->Take(bytes);
    current.block = block;
  }
  return {std::move(block), memory};
}

}  // namespace ember::vm
