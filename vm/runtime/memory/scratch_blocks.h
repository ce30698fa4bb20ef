// Memory for temporary data of kernels' calls, such as packed activations.
//
//   const std::shared_ptr<ScratchBlocks> blocks = ScratchBlocks::Shared();
//   ScratchBlocks::Block block = blocks->Take(bytes);   // null memory: refused
//   ...
//   blocks->Return(std::move(block));
//
// All kernels of a process share the blocks, which exist as long as one of the
// kernels does. The kernels of a model run one after another, so only one block
// is needed for each concurrent call, and that block is in the cache already.
// If each kernel had a block of its own, a model of a hundred kernels would
// need a hundred blocks. 64-byte aligned. Contents do not matter. Thread-safe.
#ifndef EMBER_VM_RUNTIME_MEMORY_SCRATCH_BLOCKS_H_
#define EMBER_VM_RUNTIME_MEMORY_SCRATCH_BLOCKS_H_

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

namespace ember::vm {

class ScratchBlocks {
 public:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  struct Block {
    std::unique_ptr<void, Free> memory;
    int64_t bytes = 0;
  };

  static std::shared_ptr<ScratchBlocks> Shared();

  // Returns a block of at least this many bytes. The number must not be
  // negative.
  Block Take(int64_t bytes);
  void Return(Block block);
  // Allocates a block of this size for the next Take, unless a block of at
  // least this size was allocated before. Does nothing if memory is refused.
  void Reserve(int64_t bytes);
  // Returns the total size of all blocks that were ever allocated, in bytes.
  int64_t made_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Block> free_;
  // Size in bytes of the largest block, and total size of all blocks.
  int64_t largest_ = 0;
  int64_t made_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_SCRATCH_BLOCKS_H_
