// Who says whether a kernel's results are right: a session runs the first call
// of each kernel beside tier 0, on the real operands, and asks.
//
//   class MyJudge : public KernelJudge {
//     KernelVerdict Judge(const ComparedCall& call) override {
//       return {.wrong = AreClose(call.want, call.got) ? "" : "not close"};
//     }
//   };
//
// The runtime has no opinion of its own on rounding: a provider of kernels
// (KernelProvider::judge) brings one along.
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

// A call that both made. Memory is the call's own until Judge returns.
struct ComparedCall {
  const tensor::Dispatch& dispatch;
  const Kernel& kernel;
  std::span<const int64_t> parameters;
  std::string_view target;  // hal::Device::target()
  int threads = 1;
  const std::vector<bool>& constant_inputs;  // as in KernelRequest
  // As they were before the call, in order.
  std::span<const void* const> inputs;
  // Results, in order; unspecified after an error.
  std::span<const void* const> want;  // tier 0's, which the caller gets
  std::span<const void* const> got;   // the kernel's, which nobody gets
  // Per output: the input whose memory it was computed in, or -1.
  std::span<const int> shared;
  const Status& want_status;
  const Status& got_status;
  // Asked about every millisecond; where it says stop, what Judge returns is
  // not used. Null: nobody stops it.
  const Interrupt* interrupt = nullptr;
};

struct KernelVerdict {
  // Why the kernel is withdrawn for good, one line that goes to
  // KernelSlot::decline_reasons; empty: its results are right.
  std::string wrong;
  // A wrong kernel might have given the same for these operands (all are zero
  // …): another call should be looked at, too.
  bool tells_little = false;
};

// Thread-safe.
class KernelJudge {
 public:
  virtual ~KernelJudge() = default;
  virtual KernelVerdict Judge(const ComparedCall& call) = 0;
  // Whether every element of an output is stored, so that what it held does not
  // matter. It is overwritten before the kernel runs then, as it may hold the
  // right results of an earlier call.
  virtual bool StoresAll(const tensor::Dispatch& dispatch,
                         std::span<const int64_t> parameters, size_t output) {
    return false;
  }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_JUDGE_H_
