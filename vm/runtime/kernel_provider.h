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
// The runtime never waits for a kernel: the slot may be filled at any time,
// from any thread, even after all sessions of the module have been destroyed.
// If a provider compiles inside of RequestKernel, the function returns when the
// kernel is made, or when the request's interrupt requests to stop.
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
// order. Each buffer has at least the number of bytes that the dispatch
// declares for these parameters.
struct KernelCall {
  std::span<const int64_t> parameters;
  std::span<void* const> buffers;
  ParallelRunner& runner;
  // Number of points that the dispatch's stages evaluate; 0: not known. Kernels
  // use the number to split long calls, so that runner.interrupt() is checked
  // regularly.
  int64_t points = 0;
  // Budget that is charged with the temporaries of the call while the call
  // runs. Null: temporaries are not counted.
  MemoryBudget* budget = nullptr;
};

// One call of a dispatch that becomes commands of a device (docs/devices.md).
// Its ranges are the buffers of a KernelCall in the device's memory. The range
// of a buffer that the kernel does not use (RecordedKernel::Uses) may be empty.
struct RecordCall {
  std::span<const int64_t> parameters;
  std::span<const hal::BufferRange> buffers;
  hal::CommandList& list;
  // Scratch from which temporaries are taken. It must exist as long as the list
  // may be submitted. Null: the recording owns its temporaries.
  DeviceScratch* scratch = nullptr;
};

// Memory that recorded commands need in addition to the call's buffers and
// scratch: a record of failed checks. The caller keeps it as long as the list
// may be submitted.
class Recording {
 public:
  virtual ~Recording() = default;
  // Returns the outcome of the last submission, which must have ended: an error
  // if an index that depends on data was out of range. It clears the record, so
  // call it once after each submission.
  virtual Status Outcome() = 0;
  // Returns the number of bytes of the device's memory that the recording owns,
  // for example for the record of failed checks.
  virtual int64_t device_bytes() const { return 0; }
};

class HostKernel;
class RecordedKernel;

// Compiled code of a dispatch, a HostKernel or a RecordedKernel. Thread-safe,
// because sessions share it. It must not outlive its Tiering.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // host() returns this kernel if the host calls it, recorded() if it is
  // recorded for a device; otherwise they return null. They are called in each
  // call of a dispatch, so they are not virtual.
  inline const HostKernel* host() const;
  inline const RecordedKernel* recorded() const;

  virtual int tier() const = 0;
  // True if the kernel can run these parameters. False if it is specialised for
  // other values. It is called once per session and tuple of parameters, not in
  // each call.
  virtual bool Accepts(std::span<const int64_t> parameters) const = 0;
  // Returns the number of parameters that the kernel takes with any value,
  // although it is specialised for others. Of two kernels of one tier that
  // accept the same parameters, the one with the smaller number is used.
  virtual int open_parameters() const { return 0; }
  // Returns the factor by which the error of the kernel's sums may exceed that
  // of the dispatch's own sums, relative to the magnitude of neighbouring
  // results. It is 1 if the kernel adds up the dispatch's own terms.
  virtual double error_growth() const { return 1; }
  // True if the kernel is used from its first call on without checking and
  // timing it against tier 0, because it was made and tested ahead of time
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
  // Returns the number of bytes of temporaries that each call needs with this
  // many workers. Returns 0 if the number differs between calls.
  virtual int64_t TemporaryBytes(int workers) const { return 0; }
};

// A kernel whose calls become commands of a device.
class RecordedKernel : public Kernel {
 public:
  RecordedKernel() : Kernel(/*is_of_host=*/false) {}

  // True if recorded commands read or write the dispatch's buffer with this
  // number. False for a constant that was packed when the kernel was made.
  virtual bool Uses(size_t buffer) const { return true; }
  // Records the commands of the call. Barriers are recorded between the
  // commands, but not before and after them.
  virtual StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const = 0;
};

const HostKernel* Kernel::host() const {
  return is_of_host_ ? static_cast<const HostKernel*>(this) : nullptr;
}

const RecordedKernel* Kernel::recorded() const {
  return is_of_host_ ? nullptr : static_cast<const RecordedKernel*>(this);
}

// Calls a kernel on the host. Returns an error if the kernel is for a device,
// because the provider of kernels chooses their kind.
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
  // Device for which the kernel will be recorded. If it is null or the host's
  // device, the kernel will be called on the host.
  std::shared_ptr<hal::Device> device;
  int tier = 1;
  // Values of the parameters for which the kernel is specialised;
  // tensor::kOpenParameter where the kernel must run all values. Empty: the
  // kernel must run all shapes.
  std::vector<int64_t> parameters;
  // For each input of the dispatch: true if it is always the same constant of
  // the module, so that the kernel may pack the constant and keep it.
  // constant_data then has the constant's bytes; for other inputs it is empty.
  std::vector<bool> constant_inputs;
  std::vector<std::span<const uint8_t>> constant_data;
  // Interrupt of the requesting run, for providers that compile inside of
  // RequestKernel; may be null. It may be destroyed once RequestKernel has
  // returned.
  const Interrupt* interrupt = nullptr;
  // The module's text of tuned schedules (kTunedSchedulesKey of
  // vm/isa/model_metadata.h), which the provider parses; empty if there is
  // none. `owner` keeps it alive.
  std::string_view tuned_schedules;
};

class KernelProvider {
 public:
  virtual ~KernelProvider() = default;
  // Requests a kernel. Thread-safe. The provider answers through the slot, once
  // per request, at any time. The call must return soon, because compiling
  // belongs in another thread; a provider that compiles in the call must return
  // soon after request.interrupt requests to stop.
  virtual void RequestKernel(const KernelRequest& request,
                             std::shared_ptr<KernelSlot> slot) = 0;
  // Returns the judge of the first call of each kernel (Tiering::Options). If
  // it is null, kernels are used without checks.
  virtual std::shared_ptr<KernelJudge> judge() { return nullptr; }
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_PROVIDER_H_
