// One call of a kernel that nobody sees the results of: on copies of whatever
// the call may overwrite, so that tier 0 can make the same call.
//
//   EMBER_ASSIGN_OR_RETURN(KernelCheck check,
//                          KernelCheck::Copy(pool, buffers, bytes, inputs,
//                                            runner.interrupt()));
//   Status want = plan->Run(buffers, runner);
//   Status got = kernel.Run({parameters, check.buffers(), runner});
//   judge.Judge({.inputs = check.inputs(), .want = ..., .got = check.got() ...});
//
// A kernel gets an operand in place where the call has it in place, at an
// address of the same alignment, and outputs with the contents that they have,
// or with some that no kernel stores (Overwrite).
// Memory is charged to the pool while this lives. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_KERNEL_CHECK_H_
#define EMBER_VM_RUNTIME_KERNEL_CHECK_H_

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
  // Of the call's buffers, of which the first input_count are read and the
  // others written; `bytes` of each. ResourceExhausted: no memory for copies;
  // also what the interrupt says, which may be null.
  static StatusOr<KernelCheck> Copy(std::shared_ptr<MemoryPool> pool,
                                    std::span<void* const> buffers,
                                    std::span<const int64_t> bytes,
                                    size_t input_count,
                                    const Interrupt* interrupt);
  ~KernelCheck();
  KernelCheck(KernelCheck&& other) noexcept;
  KernelCheck& operator=(KernelCheck&& other) noexcept;

  // Instead of what an output held; nothing if an input is there. is_float: the
  // contents are NaNs. False: the interrupt said stop.
  bool Overwrite(size_t output, bool is_float, const Interrupt* interrupt);

  // What the kernel is called with.
  std::span<void* const> buffers() const { return buffers_; }
  // The kernel's results.
  std::span<const void* const> got() const {
    return std::span<void* const>(buffers_).subspan(inputs_.size());
  }
  // Inputs as they were: of those in place, copies.
  std::span<const void* const> inputs() const { return inputs_; }
  // ComparedCall::shared.
  std::span<const int> shared() const { return shared_; }

 private:
  // Bytes of the pool, and memory for them.
  class Memory;

  KernelCheck();

  std::unique_ptr<Memory> memory_;
  std::vector<void*> buffers_;
  std::vector<const void*> inputs_;
  std::vector<int> shared_;
  std::vector<int64_t> output_bytes_;
  std::vector<bool> is_apart_;  // outputs that no input overlaps
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_CHECK_H_
