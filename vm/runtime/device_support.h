// The functions that a session needs if its device is not the host
// (docs/devices.md). It is an interface, so that a runtime for the host alone
// does not link the implementation:
//
//   #include "vm/runtime/devices/session.h"
//   Session::Create(module, {.device = device,
//                            .device_support = NewDeviceSupport});
//
// There is one object per session, which calls it in the order of the program's
// instructions. Between two instructions the device's copy of memory is the
// current one; the host's copy is valid from BeginHost to EndHost. Not
// thread-safe. An error of a call may come from an earlier dispatch, which was
// appended and has failed only now; failed_site is then its site.
#ifndef EMBER_VM_RUNTIME_DEVICE_SUPPORT_H_
#define EMBER_VM_RUNTIME_DEVICE_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/dispatch_runner_source.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/module.h"
#include "vm/runtime/string_support.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

// Work of the device for a session since it was created or since ResetProfile.
struct DeviceWork {
  int64_t runs = 0;
  int64_t submissions = 0;
  int64_t commands = 0;  // submitted commands: calls of kernels and copies
  int64_t barriers = 0;  // submitted barriers between commands
  int64_t recorded = 0;  // commands that were recorded, not replayed
  // CPU time in nanoseconds of the calling thread before submissions, while the
  // device waits.
  int64_t host_ns = 0;
};

// Work of the host in the middle of a session's programs.
struct HostWork {
  int64_t calls = 0;
  int64_t waits = 0;  // number of waits for the device before the host's work
  int64_t copied_bytes = 0;  // bytes copied from and to the device's memory
  std::string reason;        // reason why no kernel ran the dispatch
};

// An instruction that the host executed.
struct HostInstruction {
  uint32_t program = 0;
  uint32_t instruction = 0;
  HostWork work;
};

// Memory that an instruction accesses on the host.
struct HostAccess {
  MemoryReference memory;
  // true: the host writes, and may read, too; false: it only reads
  bool writes = false;
  // True if the host writes all bytes and reads none, so the device's bytes
  // need not be copied to the host first.
  bool overwrites = false;
};

// A call of a dispatch.
struct DeviceCall {
  uint32_t site = 0;
  const RecordedKernel* kernel = nullptr;
  std::span<const int64_t> parameters;
  // memory of inputs, then of outputs
  std::span<const MemoryReference> buffers;
  uint32_t input_count = 0;
  const int64_t* required_bytes = nullptr;  // bytes that each buffer must have
};

class DeviceSupport : public MemorySource, public DispatchRunnerSource {
 public:
  // Begins a run. (Allocate, of MemorySource, is for memory that programs use:
  // the arena and the pool's blocks.)

  virtual void StartRun(MemoryPool& pool) = 0;
  // Copies the input's elements, or the handles of its strings, to the device
  // and returns a reference to them. It is the same memory in each run as long
  // as it is large enough.
  virtual StatusOr<MemoryReference> BindInput(size_t input,
                                              const Tensor& tensor,
                                              StringSupport* strings,
                                              MemoryPool& pool) = 0;
  // Sets the arena. Memory without a block is in the arena or is a
  // constant.
  virtual void SetArena(hal::Buffer* arena) = 0;

  // Appends a call. False if it must run on the host; *reason then says why.
  virtual StatusOr<bool> Append(const DeviceCall& call,
                                const char** reason) = 0;
  // Copies between ranges that do not overlap.
  virtual Status Copy(const MemoryReference& source,
                      const MemoryReference& target) = 0;
  // True if kernels can bind memory that begins here.
  virtual bool CanBind(const MemoryReference& memory) const = 0;
  // Returns the counters of an instruction; the reference stays valid.
  virtual HostWork& WorkOf(uint32_t program, uint32_t instruction) = 0;
  // Gives the host access to memory. waits: true to wait for all appended
  // commands, whatever memory they use. work: gets the counts.
  virtual Status BeginHost(std::span<const HostAccess> accesses, bool waits,
                           HostWork& work) = 0;
  virtual Status EndHost(std::span<const HostAccess> accesses,
                         HostWork& work) = 0;
  virtual Status Flush() = 0;
  // Makes the memory, with its current contents, result number `result` of the
  // run.
  virtual Status StageResult(size_t result, const MemoryReference& memory,
                             MemoryPool& pool) = 0;
  // Ends a run whose program ended with the status. Waits for the appended
  // commands, gives each staged result memory of its own, which may outlive the
  // session, and drops the run's references. Returns the run's status.
  virtual Status EndRun(Status status, const std::shared_ptr<MemoryPool>& pool,
                        std::span<Tensor> results) = 0;
  // Returns the site of the dispatch whose check failed, or -1.
  virtual int64_t failed_site() const = 0;
  // Frees all that needs the session's pool. Called before the pool is
  // destroyed.
  virtual void Close() = 0;

  virtual DeviceWork work() const = 0;
  virtual std::vector<HostInstruction> host_work() const = 0;
  virtual void ResetWork() = 0;
};

using DeviceSupportFactory = std::shared_ptr<DeviceSupport> (*)(
    std::shared_ptr<hal::Device> device, std::shared_ptr<const Module> module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICE_SUPPORT_H_
