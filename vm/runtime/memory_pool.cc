#include "vm/runtime/memory_pool.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/concat.h"

namespace ember::vm {
namespace {

// There are four size classes for each power of two, so at most a fifth of a
// block is unused, except in blocks of the smallest size class, 256 bytes.
constexpr int kSmallestShift = 8;  // the smallest size class is 256 bytes
constexpr int kClassCount = (63 - kSmallestShift) * 4;

int64_t ClassBytes(int size_class) {
  const int64_t base = int64_t{1} << (kSmallestShift + size_class / 4);
  return base + base / 4 * (size_class % 4);
}

// Returns the size class of blocks with this number of bytes; -1 if it is above
// the largest class.
int SizeClass(int64_t bytes) {
  if (bytes <= int64_t{1} << kSmallestShift) return 0;
  const int shift =
      // the logarithm to base 2, rounded down
      std::bit_width(static_cast<uint64_t>(bytes - 1)) - 1;
  int size_class = (shift - kSmallestShift) * 4;
  while (size_class < kClassCount && ClassBytes(size_class) < bytes)
    ++size_class;
  return size_class < kClassCount ? size_class : -1;
}

}  // namespace

void MemoryBlock::Drop() {
  if (unique() || references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    pool_->GiveBack(this);
}

MemoryPool::MemoryPool(std::shared_ptr<hal::Device> device, int64_t limit,
                       std::shared_ptr<MemorySource> source)
    : device_(std::move(device)),
      source_(std::move(source)),
      limit_(limit > 0 ? limit : INT64_MAX),
      idle_(kClassCount) {}

MemoryPool::~MemoryPool() = default;

StatusOr<MemoryBlock*> MemoryPool::Acquire(int64_t bytes) {
  if (bytes < 0) {
    return InvalidArgumentError(
        Concat({"allocation: expected a size of at least 0, found ", bytes}));
  }
  const int size_class = SizeClass(bytes);
  std::lock_guard<std::mutex> lock(mutex_);
  if (size_class >= 0 && !idle_[size_class].empty()) {
    MemoryBlock* block = idle_[size_class].back();
    idle_[size_class].pop_back();
    block->is_idle_ = false;
    block->references_.store(1, std::memory_order_relaxed);
    return block;
  }
  const int64_t capacity = size_class >= 0 ? ClassBytes(size_class) : bytes;
  EMBER_RETURN_IF_ERROR(Reserve(capacity));
  StatusOr<std::unique_ptr<hal::Buffer>> buffer =
      source_ != nullptr
          ? source_->Allocate(capacity)
          : device_->Allocate(capacity, hal::MemoryKind::kHostVisible);
  if (!buffer.ok()) {
    used_ -= capacity;
    return buffer.status();
  }
  auto block = std::make_unique<MemoryBlock>();
  block->pool_ = this;
  block->buffer_ = *std::move(buffer);
  block->size_class_ = size_class;
  block->number_ = made_++;
  block->references_.store(1, std::memory_order_relaxed);
  MemoryBlock* raw = block.get();
  blocks_.push_back(std::move(block));
  return raw;
}

Status MemoryPool::Reserve(int64_t bytes) {
  if (bytes > limit_ - used_) FreeIdleBlocks();
  if (bytes > limit_ - used_) {
    return ResourceExhaustedError(
        Concat({"session: expected at most ", limit_ - used_,
                " more bytes under its memory limit of ", limit_,
                " (--max-memory), found a request for ", bytes}));
  }
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return OkStatus();
}

// Frees all idle blocks in one pass, because a program may have a million of
// them and cannot be cancelled meanwhile.
void MemoryPool::FreeIdleBlocks() {
  for (std::vector<MemoryBlock*>& blocks : idle_) blocks.clear();
  auto kept = blocks_.begin();
  for (std::unique_ptr<MemoryBlock>& block : blocks_) {
    if (block->is_idle_) {
      used_ -= block->capacity();
    } else {
      block.swap(*kept++);
    }
  }
  blocks_.erase(kept, blocks_.end());
}

void MemoryPool::FreeIdle(int64_t most) {
  std::lock_guard<std::mutex> lock(mutex_);
  int64_t bytes = 0;
  for (const std::unique_ptr<MemoryBlock>& block : blocks_)
    bytes += block->is_idle_ ? block->capacity() : 0;
  if (bytes > most) FreeIdleBlocks();
}

Status MemoryPool::Charge(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Reserve(bytes);
}

void MemoryPool::Discharge(int64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  used_ -= bytes;
}

void MemoryPool::GiveBack(MemoryBlock* block) {
  std::lock_guard<std::mutex> lock(mutex_);
  block->is_idle_ = true;
  // A block that is larger than the largest class is never reused. It stays
  // allocated, and counts as used, until FreeIdleBlocks frees all idle blocks.
  if (block->size_class_ >= 0) idle_[block->size_class_].push_back(block);
}

void MemoryPool::OrderIdleBlocks() {
  std::lock_guard<std::mutex> lock(mutex_);
  // The idle blocks are sorted by descending number, because Acquire takes them
  // from the end of the list, those with small numbers first.
  const auto is_later = [](const MemoryBlock* a, const MemoryBlock* b) {
    return a->number_ > b->number_;
  };
  for (std::vector<MemoryBlock*>& blocks : idle_) {
    if (std::is_sorted(blocks.begin(), blocks.end(), is_later)) continue;
    // Heap sort is used, because it takes less code than std::sort.
    std::make_heap(blocks.begin(), blocks.end(), is_later);
    std::sort_heap(blocks.begin(), blocks.end(), is_later);
  }
}

int64_t MemoryPool::used_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return used_;
}

int64_t MemoryPool::peak_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peak_;
}

std::shared_ptr<void> Share(std::shared_ptr<MemoryPool> pool,
                            MemoryBlock* block) {
  return std::shared_ptr<void>(
      block->data(), [pool = std::move(pool), block](void*) { block->Drop(); });
}

}  // namespace ember::vm
