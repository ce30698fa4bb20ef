// The JIT's door: who wants to run dispatches faster than tier 0 implements
// KernelProvider.
//
//   class Jit : public KernelProvider {
//     void RequestKernel(const KernelRequest& request,
//                        std::shared_ptr<KernelSlot> slot) override {
//       // Or slot->Decline("why not")
//       queue_.Add([=] { slot->Install(Compile(request)); });
//     }
//   };
//
// vm never waits for a kernel: the slot may be filled at any time, from any
// thread, even after the module's sessions are gone. In a provider that
// compiles at once RequestKernel returns when the kernel is made, or when the
// request's interrupt says stop.
#ifndef EMBER_VM_RUNTIME_KERNEL_PROVIDER_H_
#define EMBER_VM_RUNTIME_KERNEL_PROVIDER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/memory_budget.h"
#include "base/parallel.h"
#include "base/status.h"
#include "hal/device.h"
#include "tensor/dispatch.h"
#include "vm/runtime/device_scratch.h"
#include "vm/runtime/kernel_judge.h"

namespace ember::vm {

class KernelSlot;

// One call of a dispatch. Buffers are the dispatch's inputs and outputs in
// order; each is known to hold the bytes that the dispatch declares for these
// parameters.
struct KernelCall {
  std::span<const int64_t> parameters;
  std::span<void* const> buffers;
  ParallelRunner& runner;
  // That the dispatch's stages evaluate, for those who cut long calls so that
  // runner.interrupt() is asked now and then; 0: not known.
  int64_t points = 0;
  // Charged, while the call runs, with the temporaries that it needs; null:
  // nobody counts.
  MemoryBudget* budget = nullptr;
};

// One call of a dispatch that becomes commands of a device (docs/devices.md).
// Buffers as in KernelCall, but where the device has them; those that the
// kernel does not use (RecordedKernel::Uses) may be empty.
struct RecordCall {
  std::span<const int64_t> parameters;
  std::span<const hal::BufferRange> buffers;
  hal::CommandList& list;
  // Where temporaries come from, which lives as long as the list may be
  // submitted; null: the recording owns them.
  DeviceScratch* scratch = nullptr;
};

// What recorded commands need besides the call's buffers and scratch: a record
// of failed checks. Lives as long as the list may be submitted.
class Recording {
 public:
  virtual ~Recording() = default;
  // Of the submission that has ended last: an error if an index from data was
  // out of range. Asked once after each, as what was noted is over then.
  virtual Status Outcome() = 0;
  // Of the device's memory, what it owns.
  virtual int64_t device_bytes() const { return 0; }
};

class HostKernel;
class RecordedKernel;

// Compiled code of a dispatch, a HostKernel or a RecordedKernel. Thread-safe:
// sessions share it. Lives until its Tiering does.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // This one, if the host calls it, or if it is recorded for a device; else
  // null. Asked for each call, so no virtual function.
  inline const HostKernel* host() const;
  inline const RecordedKernel* recorded() const;

  virtual int tier() const = 0;
  // False: this kernel is not for these parameters (it was specialised on
  // others). Asked once per session and parameter tuple, not per call.
  virtual bool Accepts(std::span<const int64_t> parameters) const = 0;
  // By how much more than those of the dispatch's sums its sums may be off,
  // relative to results around them: 1 where it adds up what the dispatch says.
  virtual double error_growth() const { return 1; }
  // It is used from the first call on, without being checked and timed beside
  // tier 0: it was made, and tried, before (vm/runtime/native_kernels.h).
  virtual bool is_settled() const { return false; }
  // One line for --profile.
  virtual std::string Describe() const = 0;

 private:
  friend class HostKernel;
  friend class RecordedKernel;
  explicit Kernel(bool is_of_host) : is_of_host_(is_of_host) {}

  const bool is_of_host_;
};

// A kernel that runs on the host when it is called.
class HostKernel : public Kernel {
 public:
  HostKernel() : Kernel(/*is_of_host=*/true) {}

  virtual Status Run(const KernelCall& call) const = 0;
  // Temporaries of a call on so many workers, where they are the same for all
  // calls; else 0.
  virtual int64_t TemporaryBytes(int workers) const { return 0; }
};

// A kernel whose calls become commands of a device.
class RecordedKernel : public Kernel {
 public:
  RecordedKernel() : Kernel(/*is_of_host=*/false) {}

  // Whether recorded commands read or write buffer number i of the dispatch:
  // not a constant that was packed when the kernel was made.
  virtual bool Uses(size_t buffer) const { return true; }
  // The commands of the call, with barriers between them but none around them.
  virtual StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const = 0;
};

const HostKernel* Kernel::host() const {
  return is_of_host_ ? static_cast<const HostKernel*>(this) : nullptr;
}

const RecordedKernel* Kernel::recorded() const {
  return is_of_host_ ? nullptr : static_cast<const RecordedKernel*>(this);
}

// Calls a kernel that is to be of the host: whoever provides kernels chooses,
// and one of a device is an error.
inline Status RunOnHost(const Kernel& kernel, const KernelCall& call) {
  const HostKernel* const host = kernel.host();
  if (host != nullptr) return host->Run(call);
  return InternalError("expected a kernel of the host, found one of a device");
}

struct KernelRequest {
  // Keeps the dispatch and the constants' bytes where they are.
  std::shared_ptr<const void> owner;
  const tensor::Dispatch* dispatch = nullptr;
  std::string target;  // hal::Device::target()
  // Where the kernel will be recorded; the host's device or null: it is called.
  std::shared_ptr<hal::Device> device;
  int tier = 1;
  // Observed parameters to specialise on; empty: a kernel for all shapes is
  // wanted.
  std::vector<int64_t> parameters;
  // Per input of the dispatch: true if it is always the same constant of the
  // module (packed weights may be kept by the kernel); constant_data is its
  // bytes, else empty.
  std::vector<bool> constant_inputs;
  std::vector<std::span<const uint8_t>> constant_data;
  // Of the run that asks, for providers that compile at once; null: nobody
  // stops it. It may be gone when RequestKernel has returned.
  const Interrupt* interrupt = nullptr;
};

class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  // Thread-safe. Answers through the slot, once per request, at any time. Must
  // return soon, or soon after request.interrupt says stop: compile elsewhere.
  virtual void RequestKernel(const KernelRequest& request,
                             std::shared_ptr<KernelSlot> slot) = 0;
  // Who sees the first call of each of its kernels (Tiering::Options); null:
  // kernels are used as they are.
  virtual std::shared_ptr<KernelJudge> judge() { return nullptr; }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_PROVIDER_H_
