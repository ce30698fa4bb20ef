// Decides if a kernel's results are right. On the first call of each kernel, a
// session also runs the call at tier 0, with the same operands, and passes both
// results to the judge.
//
//   class MyJudge : public KernelJudge {
//     KernelVerdict Judge(const ComparedCall& call) override {
//       return {.wrong = call.got_status.ok() ? "" : "it failed"};
//     }
//   };
//
// The runtime itself does not know how kernels may round: a provider of kernels
// supplies a judge (KernelProvider::judge).
#ifndef EMBER_VM_RUNTIME_KERNEL_JUDGE_H_
#define EMBER_VM_RUNTIME_KERNEL_JUDGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::vm {

class Kernel;

// A call that both tier 0 and the kernel made. Its memory is valid until Judge
// returns.
struct ComparedCall {
  const tensor::Dispatch& dispatch;
  const Kernel& kernel;
  std::span<const int64_t> parameters;
  std::string_view target;  // result of hal::Device::target()
  int threads = 1;
  // For each input: true if it is always the same constant of the module.
  const std::vector<bool>& constant_inputs;
  // Inputs as they were before the call, in order.
  std::span<const void* const> inputs;
  // The results of tier 0 and of the kernel, in the order of the outputs. They
  // are unspecified after an error. `want` are the results of tier 0, which the
  // caller gets.
  std::span<const void* const> want;
  std::span<const void* const> got;  // results of the kernel; they are
                                     // discarded after the comparison
  // For each output of the call, the number of the input that shares its
  // memory, so that the call overwrote this input; -1 if no input does.
  std::span<const int> shared;
  const Status& want_status;
  const Status& got_status;
  // Interrupt of the run; may be null. The judge checks it about every
  // millisecond. If the interrupt stops it, the result of Judge is not used.
  const Interrupt* interrupt = nullptr;
};

struct KernelVerdict {
  // The reason why the kernel is never used again, in one line, which is added
  // to KernelSlot::decline_reasons. Empty if the kernel's results are right.
  std::string wrong;
  // True if even a wrong kernel might give these results (for example if all
  // are zeros), so that another call should be checked.
  bool tells_little = false;
};

// Judges the results of kernels. Thread-safe.
class KernelJudge {
 public:
  virtual ~KernelJudge() = default;
  virtual KernelVerdict Judge(const ComparedCall& call) = 0;
  // True if the dispatch stores every element of the output with the number
  // `output`. The kernel's copy of the output is then overwritten before the
  // kernel runs, because it may contain the right results of an earlier call.
  virtual bool StoresAll(const tensor::Dispatch& dispatch,
                         std::span<const int64_t> parameters, size_t output) {
    return false;
  }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_JUDGE_H_
