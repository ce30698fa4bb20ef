// Memory for what kernels keep during a call, such as packed activations.
//
//   const std::shared_ptr<ScratchBlocks> blocks = ScratchBlocks::Shared();
//   ScratchBlocks::Block block = blocks->Take(bytes);   // null memory: refused
//   ...
//   blocks->Return(std::move(block));
//
// All kernels of a process share the blocks, which live as long as one of the
// kernels: those of a model take turns, so that there is one block for each
// call that goes on at once, and it is in the cache already. Were each kernel
// to keep its own, a model of a hundred would hold a hundred. 64-byte aligned.
// Contents do not matter. Thread-safe.
#ifndef EMBER_VM_RUNTIME_SCRATCH_BLOCKS_H_
#define EMBER_VM_RUNTIME_SCRATCH_BLOCKS_H_

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

  // At least so many bytes, which must not be negative.
  Block Take(int64_t bytes);
  void Return(Block block);
  // That one of so many bytes is there for whoever takes it next, unless one as
  // large was made before. If memory is refused, none is.
  void Reserve(int64_t bytes);
  // Of all that were ever made.
  int64_t made_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::vector<Block> free_;
  // That were made.
  int64_t largest_ = 0;
  int64_t made_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_SCRATCH_BLOCKS_H_
