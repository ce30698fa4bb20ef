// Decides if a kernel's results are right. A session runs the first call of
// each kernel and the same call of tier 0, on the real operands, and asks the
// judge.
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

// A call that tier 0 and the kernel made. Its memory is valid until Judge
// returns.
struct ComparedCall {
  const tensor::Dispatch& dispatch;
  const Kernel& kernel;
  std::span<const int64_t> parameters;
  std::string_view target;  // result of hal::Device::target()
  int threads = 1;
  // see KernelRequest::constant_inputs
  const std::vector<bool>& constant_inputs;
  // Inputs as they were before the call, in order.
  std::span<const void* const> inputs;
  // Results, in order; unspecified after an error.
  // results of tier 0, which the caller gets
  std::span<const void* const> want;
  std::span<const void* const> got;  // results of the kernel, which are dropped
  // For each output the input in whose memory it was computed, or -1.
  std::span<const int> shared;
  const Status& want_status;
  const Status& got_status;
  // Interrupt of the run; may be null. The judge checks it about every
  // millisecond. If it stops the judge, the result of Judge is not used.
  const Interrupt* interrupt = nullptr;
};

struct KernelVerdict {
  // The reason for which the kernel is withdrawn permanently, one line that is
  // added to KernelSlot::decline_reasons. Empty: the kernel's results are
  // right.
  std::string wrong;
  // True if a wrong kernel might give the same results for these operands (for
  // example all zeros), so that another call should be checked.
  bool tells_little = false;
};

// Judges the results of kernels. Thread-safe.
class KernelJudge {
 public:
  virtual ~KernelJudge() = default;
  virtual KernelVerdict Judge(const ComparedCall& call) = 0;
  // True if the dispatch stores every element of the output, so its old
  // contents do not matter. The output is then overwritten before the kernel
  // runs, because it may hold the right results of an earlier call.
  virtual bool StoresAll(const tensor::Dispatch& dispatch,
                         std::span<const int64_t> parameters, size_t output) {
    return false;
  }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_JUDGE_H_
