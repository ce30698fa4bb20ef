// The memory for one call of a kernel that is only made to check its results.
// The kernel runs on copies of all memory that the call may overwrite, so that
// tier 0 can make the same call.
//
//   EMBER_ASSIGN_OR_RETURN(KernelCheck check,
//                          KernelCheck::Copy(pool, buffers, bytes, inputs,
//                                            runner.interrupt()));
//   Status want = plan->Run(buffers, runner);
//   Status got = kernel.Run({parameters, check.buffers(), runner});
//   judge.Judge({.inputs = check.inputs(), .want = ..., .got = check.got() ...});
//
// If an output shares an input's memory in the call, the copies do so too, at
// an address of the same alignment. Outputs have their contents from before the
// call, or values that no kernel stores (Overwrite). Memory is charged to the
// pool while this object lives. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_KERNELS_CHECK_H_
#define EMBER_VM_RUNTIME_KERNELS_CHECK_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/interrupt.h"
#include "base/status.h"
#include "vm/runtime/memory_pool.h"

namespace ember::vm {

class KernelCheck {
 public:
  // Copies the call's buffers. The first input_count buffers are read, the
  // others are written; `bytes` has the size of each buffer. Returns
  // ResourceExhausted if there is no memory for the copies. If the interrupt,
  // which may be null, stopped the copying, returns the interrupt's status.
  static StatusOr<KernelCheck> Copy(std::shared_ptr<MemoryPool> pool,
                                    std::span<void* const> buffers,
                                    std::span<const int64_t> bytes,
                                    size_t input_count,
                                    const Interrupt* interrupt);
  ~KernelCheck();
  KernelCheck(KernelCheck&& other) noexcept;
  KernelCheck& operator=(KernelCheck&& other) noexcept;

  // Replaces the contents of an output's copy, unless it shares memory with an
  // input. The new contents are NaNs if is_float, otherwise bytes 0xa5. Returns
  // false if the interrupt stopped it.
  bool Overwrite(size_t output, bool is_float, const Interrupt* interrupt);

  // Returns the buffers for the kernel's call.
  std::span<void* const> buffers() const { return buffers_; }
  // Returns the results of the kernel.
  std::span<const void* const> got() const {
    return std::span<void* const>(buffers_).subspan(inputs_.size());
  }
  // Returns the inputs as they were before the call. Inputs that the call
  // overwrites are copies.
  std::span<const void* const> inputs() const { return inputs_; }
  // Returns for each output the number of the input that shares its memory, as
  // in ComparedCall::shared.
  std::span<const int> shared() const { return shared_; }

 private:
  // Owns the memory of copies, which is charged to the pool.
  class Memory;

  KernelCheck();

  std::unique_ptr<Memory> memory_;
  std::vector<void*> buffers_;
  std::vector<const void*> inputs_;
  std::vector<int> shared_;
  std::vector<int64_t> output_bytes_;
  std::vector<bool> is_apart_;  // for each output, true if it shares no memory
                                // with an input
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_CHECK_H_
