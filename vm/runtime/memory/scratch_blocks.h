// Memory for data that kernels keep during a call, such as packed activations.
//
//   const std::shared_ptr<ScratchBlocks> blocks = ScratchBlocks::Shared();
//   ScratchBlocks::Block block = blocks->Take(bytes);   // null memory: refused
//   ...
//   blocks->Return(std::move(block));
//
// All kernels of a process share the blocks, which live as long as one of the
// kernels. The kernels of a model run one after another, so there is one block
// for each concurrent call, and it is in the cache already. If each kernel kept
// its own block, a model of a hundred kernels would hold a hundred blocks.
// 64-byte aligned. Contents do not matter. Thread-safe.
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

  // Returns a block of at least this many bytes, which must not be negative.
  Block Take(int64_t bytes);
  void Return(Block block);
  // Makes a block of this many bytes available to the next Take, unless one as
  // large was made before. Does nothing if memory is refused.
  void Reserve(int64_t bytes);
  // Returns the total bytes of all blocks that were ever allocated.
  int64_t made_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Block> free_;
  // Bytes of the largest allocated block, and of all allocated blocks.
  int64_t largest_ = 0;
  int64_t made_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_SCRATCH_BLOCKS_H_
