// The interface of the JIT: a component that can run dispatches faster than
// tier 0 implements KernelProvider.
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
// thread, even after the module's sessions are gone. A provider that compiles
// at once returns from RequestKernel when the kernel is made, or when the
// request's interrupt asks to stop.
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
// order. Each has at least the bytes that the dispatch declares for these
// parameters.
struct KernelCall {
  std::span<const int64_t> parameters;
  std::span<void* const> buffers;
  ParallelRunner& runner;
  // Number of points that the dispatch's stages evaluate; 0: not known. Kernels
  // use it to split long calls, so that runner.interrupt() is checked
  // regularly.
  int64_t points = 0;
  // Budget that is charged with the temporaries of the call while the call
  // runs. Null: temporaries are not counted.
  MemoryBudget* budget = nullptr;
};

// One call of a dispatch that becomes commands of a device (docs/devices.md).
// Buffers are those of KernelCall in the device's memory; those that the kernel
// does not use (RecordedKernel::Uses) may be empty.
struct RecordCall {
  std::span<const int64_t> parameters;
  std::span<const hal::BufferRange> buffers;
  hal::CommandList& list;
  // The source of temporaries, which lives as long as the list may be
  // submitted. Null: the recording owns its temporaries.
  DeviceScratch* scratch = nullptr;
};

// Memory that recorded commands need in addition to the call's buffers and
// scratch: a record of failed checks. It lives as long as the list may be
// submitted.
class Recording {
 public:
  virtual ~Recording() = default;
  // Returns the outcome of the last submission that has ended: an error if an
  // index from data was out of range. Call it once after each submission,
  // because it clears the record.
  virtual Status Outcome() = 0;
  // Returns the bytes of the device's memory that the recording owns.
  virtual int64_t device_bytes() const { return 0; }
};

class HostKernel;
class RecordedKernel;

// Compiled code of a dispatch, a HostKernel or a RecordedKernel. Thread-safe:
// sessions share it. Lives until its Tiering does.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Returns this kernel if the host calls it, or if it is recorded for a
  // device; else null. Used in each call, so it is no virtual function.
  inline const HostKernel* host() const;
  inline const RecordedKernel* recorded() const;

  virtual int tier() const = 0;
  // True if the kernel can run these parameters. False if it was specialised on
  // others. Called once per session and parameter tuple, not per call.
  virtual bool Accepts(std::span<const int64_t> parameters) const = 0;
  // Returns the factor by which the error of the kernel's sums may exceed that
  // of the dispatch's sums, relative to results around them. 1 if the kernel
  // adds up the terms of the dispatch itself.
  virtual double error_growth() const { return 1; }
  // True if the kernel is used from the first call on, without being checked
  // and timed against tier 0, because it was made and tried ahead of time
  // (vm/runtime/dispatch/native_kernels.h).
  virtual bool is_settled() const { return false; }
  // Returns one line that describes the kernel, for --profile.
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
  // Returns the bytes of temporaries of a call with this many workers, if they
  // are the same for all calls; else 0.
  virtual int64_t TemporaryBytes(int workers) const { return 0; }
};

// A kernel whose calls become commands of a device.
class RecordedKernel : public Kernel {
 public:
  RecordedKernel() : Kernel(/*is_of_host=*/false) {}

  // True if recorded commands read or write buffer number i of the dispatch.
  // False for a constant that was packed when the kernel was made.
  virtual bool Uses(size_t buffer) const { return true; }
  // Records the commands of the call. There are barriers between its commands,
  // but none before and after them.
  virtual StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const = 0;
};

const HostKernel* Kernel::host() const {
  return is_of_host_ ? static_cast<const HostKernel*>(this) : nullptr;
}

const RecordedKernel* Kernel::recorded() const {
  return is_of_host_ ? nullptr : static_cast<const RecordedKernel*>(this);
}

// Calls a kernel on the host. The provider of kernels chooses their kind; a
// kernel of a device is an error.
inline Status RunOnHost(const Kernel& kernel, const KernelCall& call) {
  const HostKernel* const host = kernel.host();
  if (host != nullptr) return host->Run(call);
  return InternalError("expected a kernel of the host, found one of a device");
}

struct KernelRequest {
  // Object that keeps the dispatch and the constants' bytes alive and in place.
  std::shared_ptr<const void> owner;
  const tensor::Dispatch* dispatch = nullptr;
  std::string target;  // result of hal::Device::target()
  // The device that the kernel will be recorded for. Null or the host's device:
  // the kernel will be called on the host.
  std::shared_ptr<hal::Device> device;
  int tier = 1;
  // Observed parameters to specialise on. Empty: the request is for a kernel
  // for all shapes.
  std::vector<int64_t> parameters;
  // For each input of the dispatch: true if it is always the same constant of
  // the module, so that the kernel may keep packed weights. constant_data has
  // the constant's bytes; otherwise it is empty.
  std::vector<bool> constant_inputs;
  std::vector<std::span<const uint8_t>> constant_data;
  // Interrupt of the requesting run, for providers that compile at once; may be
  // null. It may be destroyed once RequestKernel has returned.
  const Interrupt* interrupt = nullptr;
};

class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  // Requests a kernel. Thread-safe. The provider answers through the slot, once
  // per request, at any time. It must return soon, or soon after
  // request.interrupt asks to stop: compile elsewhere.
  virtual void RequestKernel(const KernelRequest& request,
                             std::shared_ptr<KernelSlot> slot) = 0;
  // Returns the judge of the first call of each kernel (Tiering::Options).
  // Null: kernels are used without checks.
  virtual std::shared_ptr<KernelJudge> judge() { return nullptr; }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_PROVIDER_H_
