// Memory of a session for shapes that are known only at run time. Its blocks
// are reused instead of freed, and their total size is limited.
//
//   EMBER_ASSIGN_OR_RETURN(MemoryBlock* block, pool->Acquire(4096));
//   ...
//   block->Drop();                                    // back to the pool
//   // Or given away as a result.
//   std::shared_ptr<void> memory = Share(pool, block);
//
// Thread-safe: results may be dropped on any thread.
#ifndef EMBER_VM_RUNTIME_MEMORY_POOL_H_
#define EMBER_VM_RUNTIME_MEMORY_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/memory_budget.h"
#include "base/status.h"
#include "hal/device.h"

namespace ember::vm {

class MemoryPool;

// Allocates the blocks of a pool.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // Returns zeroed memory of `bytes` bytes that the host can access.
  virtual StatusOr<std::unique_ptr<hal::Buffer>> Allocate(int64_t bytes) = 0;
};

// A block of memory with a reference count. When the last reference is dropped,
// the block returns to the pool.
class MemoryBlock {
 public:
  uint8_t* data() const { return static_cast<uint8_t*>(buffer_->host_data()); }
  int64_t capacity() const { return buffer_->size(); }
  hal::Buffer& buffer() const { return *buffer_; }
  // Adds a reference. The caller must hold one. If it holds the only reference,
  // no other thread can change the count, so no atomic addition is needed.
  void Hold() {
    if (references_.load(std::memory_order_relaxed) == 1) {
      references_.store(2, std::memory_order_relaxed);
    } else {
      references_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void Drop();
  // True if there is only one reference. The owner of that reference may then
  // change the memory.
  bool unique() const {
    return references_.load(std::memory_order_acquire) == 1;
  }

 private:
  friend class MemoryPool;
  std::atomic<int32_t> references_{0};
  MemoryPool* pool_ = nullptr;
  std::unique_ptr<hal::Buffer> buffer_;
  int size_class_ = 0;
  int64_t number_ = 0;    // number of the block, in the order in which the
                          // blocks were created
  bool is_idle_ = false;  // true while no one uses the block; the pool's mutex
                          // guards it
};

class MemoryPool final : public MemoryBudget {
 public:
  // Makes an empty pool. `limit` is the largest number of bytes of its blocks
  // and of charged memory together; 0: no limit. `source` allocates blocks; if
  // it is null, they are host-visible memory of the device.
  MemoryPool(std::shared_ptr<hal::Device> device, int64_t limit,
             std::shared_ptr<MemorySource> source = nullptr);
  ~MemoryPool() override;

  // Returns a block of at least `bytes` bytes, 64-byte aligned, with one
  // reference. Its contents are zeros or those of an earlier use.
  StatusOr<MemoryBlock*> Acquire(int64_t bytes);
  // Adds the bytes of memory that was allocated elsewhere to the pool's used
  // bytes, which its limit restricts.
  Status Charge(int64_t bytes) override;
  void Discharge(int64_t bytes) override;

  // Sorts the idle blocks: Acquire then takes them in the order of their
  // creation, so that a program that runs again gets the same blocks as in its
  // last run.
  void OrderIdleBlocks();
  // Frees all idle blocks if they have more than `most` bytes in total.
  void FreeIdle(int64_t most);

  int64_t limit() const { return limit_; }
  int64_t used_bytes() const;
  int64_t peak_bytes() const;

 private:
  friend class MemoryBlock;
  void GiveBack(MemoryBlock* block);
  // The functions below must be called with mutex_ held.
  Status Reserve(int64_t bytes);
  void FreeIdleBlocks();

  const std::shared_ptr<hal::Device> device_;
  const std::shared_ptr<MemorySource> source_;
  const int64_t limit_;
  mutable std::mutex mutex_;
  int64_t used_ = 0;
  int64_t peak_ = 0;
  int64_t made_ = 0;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_;
  // for each size class, its idle blocks
  std::vector<std::vector<MemoryBlock*>> idle_;
};

// Returns the block's memory as a shared pointer, which takes over one of the
// caller's references. The pool stays alive at least as long as the result.
std::shared_ptr<void> Share(std::shared_ptr<MemoryPool> pool,
                            MemoryBlock* block);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_POOL_H_
