#include "vm/runtime/memory/scratch_blocks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/page_hints.h"

namespace ember::vm {
namespace {

constexpr int64_t kAlignment = 64;

struct Current {
  std::mutex mutex;
  std::weak_ptr<ScratchBlocks> blocks;
};

}  // namespace

std::shared_ptr<ScratchBlocks> ScratchBlocks::Shared() {
  // The pointer to the shared object is never destroyed, because kernels may be
  // made until the process ends.
  static Current& current = *new Current;
  const std::lock_guard<std::mutex> lock(current.mutex);
  std::shared_ptr<ScratchBlocks> blocks = current.blocks.lock();
  if (blocks == nullptr) {
    blocks = std::make_shared<ScratchBlocks>();
    current.blocks = blocks;
  }
  return blocks;
}

ScratchBlocks::Block ScratchBlocks::Take(int64_t bytes) {
  Block unused;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    // The smallest unused block that is large enough is taken.
    auto best = free_.end();
    for (auto block = free_.begin(); block != free_.end(); ++block) {
      if (block->bytes >= bytes &&
          (best == free_.end() || block->bytes < best->bytes))
        best = block;
    }
    if (best != free_.end()) {
      Block block = std::move(*best);
      free_.erase(best);
      return block;
    }
    // If no unused block is large enough, a new one is allocated, and an unused
    // block is freed in exchange.
    if (!free_.empty()) {
      unused = std::move(free_.back());
      free_.pop_back();
    }
  }
  // The unused block is freed before the new one is allocated, so that the
  // allocator may reuse its memory.
  unused = {};
  Block block;
  const std::optional<int64_t> room =
      CheckedAdd(std::max<int64_t>(bytes, 1), kAlignment - 1);
  if (!room || static_cast<uint64_t>(*room) > SIZE_MAX / 2) return block;
  block.bytes = *room / kAlignment * kAlignment;
  block.memory.reset(
      std::aligned_alloc(kAlignment, static_cast<size_t>(block.bytes)));
  if (block.memory == nullptr) return block;
  TouchPages(block.memory.get(), static_cast<size_t>(block.bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  largest_ = std::max(largest_, block.bytes);
  made_ += block.bytes;
  return block;
}

int64_t ScratchBlocks::made_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return made_;
}

void ScratchBlocks::Reserve(int64_t bytes) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (largest_ >= bytes) return;
  }
  Block block = Take(bytes);
  if (block.memory != nullptr) Return(std::move(block));
}

void ScratchBlocks::Return(Block block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  free_.push_back(std::move(block));
}

}  // namespace ember::vm
