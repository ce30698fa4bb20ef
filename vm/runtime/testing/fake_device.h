// A device for tests of vm/runtime with devices that are not the host. Its
// commands are host code, and it has memory of its own.
//
//   auto device = std::make_shared<FakeDevice>(FakeDeviceOptions{});
//   auto provider = std::make_shared<FakeProvider>(FakeProviderOptions{});
//   ... Session::Create(module, {.device = device,
//                                .device_support = NewDeviceSupport, ...
//
// It is as strict as the interface hal::Device allows, so that tests detect
// mistakes:
//   - memory of the device is not visible to the host, and kernels refuse
//     memory that is not the device's (unless shares_memory);
//   - commands run when their fence is waited for, not before;
//   - commands between two barriers run in the opposite order.
//
// Kernels run a dispatch's definition (tier 0) on the device's memory.
// Thread-safety: that of hal::Device, but one submission at a time.
#ifndef EMBER_VM_RUNTIME_TESTING_FAKE_DEVICE_H_
#define EMBER_VM_RUNTIME_TESTING_FAKE_DEVICE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hal/device.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

struct FakeDeviceOptions {
  hal::DeviceLimits limits = {.shares_memory = false};
  // largest number of bytes of device memory; 0: no limit
  int64_t memory_limit = 0;
};

class FakeDevice final : public hal::Device {
 public:
  explicit FakeDevice(FakeDeviceOptions options);
  ~FakeDevice() override;

  std::string_view driver() const override { return "fake"; }
  std::string_view target() const override { return "fake"; }
  hal::DeviceLimits limits() const override { return options_.limits; }
  StatusOr<std::unique_ptr<hal::Buffer>> Allocate(
      int64_t size, hal::MemoryKind kind) override;
  hal::MemoryStatistics memory_statistics() const override;
  StatusOr<std::unique_ptr<hal::Executable>> LoadExecutable(
      const hal::ExecutableDefinition& definition) override;
  StatusOr<std::unique_ptr<hal::CommandList>> CreateCommandList() override;
  StatusOr<std::unique_ptr<hal::Fence>> Submit(
      const hal::CommandList& list) override;
  ParallelRunner& host_runner() override { return runner_; }

  // If `value` is true, makes all further submissions fail, as after the loss
  // of the device. If it is false, submissions succeed again.
  void set_is_lost(bool value) { is_lost_ = value; }
  int64_t lists_alive() const { return lists_alive_; }

 private:
  friend class FakeBuffer;
  friend class FakeCommandList;

  const FakeDeviceOptions options_;
  SerialRunner runner_;
  std::atomic<int64_t> live_bytes_{0}, peak_bytes_{0}, allocations_{0};
  std::atomic<int64_t> lists_alive_{0};
  std::atomic<bool> is_lost_{false};
};

struct FakeProviderOptions {
  // Names of the dispatches for which the provider declines requests.
  std::set<std::string> declined;
  // Names of the dispatches whose kernels return Unimplemented when they are
  // recorded.
  std::set<std::string> unrecordable;
  // True: kernels keep copies of their constant inputs and do not use the
  // constants of the call.
  bool packs_constants = false;
};

// A provider that makes kernels for a FakeDevice before the request returns.
class FakeProvider final : public KernelProvider {
 public:
  explicit FakeProvider(FakeProviderOptions options)
      : options_(std::move(options)) {}
  void RequestKernel(const KernelRequest& request,
                     std::shared_ptr<KernelSlot> slot) override;

  int64_t requests() const { return requests_; }
  // Returns how often RecordedKernel::Record was called.
  int64_t records() const { return *records_; }

 private:
  const FakeProviderOptions options_;
  int64_t requests_ = 0;
  const std::shared_ptr<int64_t> records_ = std::make_shared<int64_t>(0);
};

// Returns a kernel for the dispatch, for tests without sessions.
std::unique_ptr<Kernel> NewFakeKernel(const tensor::Dispatch& dispatch);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TESTING_FAKE_DEVICE_H_
