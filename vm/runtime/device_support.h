// The functions that a session calls if its device is not the host
// (docs/devices.md). They form an interface, so that a runtime for the host
// alone does not link the implementation:
//
//   #include "vm/runtime/devices/session.h"
//   Session::Create(module, {.device = device,
//                            .device_support = NewDeviceSupport});
//
// Each session has one DeviceSupport object. The session calls it in the order
// of the program's instructions. Between two instructions the device's copy of
// memory is valid; the host's copy is valid from BeginHost to EndHost. Not
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

// Counts the work of the device for a session since the session was created or
// its profile was reset.
struct DeviceWork {
  int64_t runs = 0;
  int64_t submissions = 0;
  int64_t commands = 0;  // number of submitted commands: calls of kernels and
                         // copies
  int64_t barriers = 0;  // number of submitted barriers between commands
  int64_t recorded = 0;  // number of commands that had to be recorded instead
                         // of replayed
  // CPU time in nanoseconds that the calling thread spends before submissions,
  // while the device is idle.
  int64_t host_ns = 0;
};

// Counts work that the host does between the device's work in a session's
// programs, such as a dispatch without a kernel.
struct HostWork {
  int64_t calls = 0;
  int64_t waits = 0;  // number of times that the host waited for the device
                      // before its work
  int64_t copied_bytes = 0;  // number of bytes copied to and from the device's
                             // memory
  std::string reason;        // reason why the host, and not a kernel of the
                             // device, ran the dispatch
};

// An instruction that the host executed.
struct HostInstruction {
  uint32_t program = 0;
  uint32_t instruction = 0;
  HostWork work;
};

// Memory that an instruction accesses while the host executes it.
struct HostAccess {
  MemoryReference memory;
  // True if the host writes to the memory (and may read it, too). False if it
  // only reads it.
  bool writes = false;
  // True if the host writes all bytes and reads none, so that the device's
  // bytes need not be copied to the host first.
  bool overwrites = false;
};

// A call of a dispatch that becomes a command of the device.
struct DeviceCall {
  uint32_t site = 0;
  const RecordedKernel* kernel = nullptr;
  std::span<const int64_t> parameters;
  // memory of the dispatch's inputs, then of its outputs
  std::span<const MemoryReference> buffers;
  uint32_t input_count = 0;
  // for each buffer, the number of bytes that it must have
  const int64_t* required_bytes = nullptr;
};

class DeviceSupport : public MemorySource, public DispatchRunnerSource {
 public:
  // StartRun begins a run of the session. (The inherited function
  // MemorySource::Allocate provides the memory that programs use: the arena and
  // the pool's blocks.)

  virtual void StartRun(MemoryPool& pool) = 0;
  // Copies the input's elements, or the handles of its strings, to the device
  // and returns a reference to them. All runs use the same device memory for an
  // input, as long as it is large enough.
  virtual StatusOr<MemoryReference> BindInput(size_t input,
                                              const Tensor& tensor,
                                              StringSupport* strings,
                                              MemoryPool& pool) = 0;
  // Sets the device's buffer that is the session's arena. A MemoryReference
  // whose block is null refers either to the arena or to a constant of the
  // module.
  virtual void SetArena(hal::Buffer* arena) = 0;

  // Appends a call of a dispatch to the device's commands. Returns false if the
  // device cannot run the call, so that the host must; *reason then says why.
  virtual StatusOr<bool> Append(const DeviceCall& call,
                                const char** reason) = 0;
  // Appends a copy from source to target to the device's commands. The two
  // ranges of memory must not overlap.
  virtual Status Copy(const MemoryReference& source,
                      const MemoryReference& target) = 0;
  // True if the address of the memory is aligned so that kernels can bind it.
  virtual bool CanBind(const MemoryReference& memory) const = 0;
  // Returns the counters of the work that the host does for one instruction of
  // a program. The reference stays valid as long as the session.
  virtual HostWork& WorkOf(uint32_t program, uint32_t instruction) = 0;
  // Makes memory accessible to the host, until EndHost. If `waits`, the
  // function waits for all appended commands, whatever memory they use;
  // otherwise it waits only for commands that use the same memory. The waits
  // and copies are counted in `work`.
  virtual Status BeginHost(std::span<const HostAccess> accesses, bool waits,
                           HostWork& work) = 0;
  virtual Status EndHost(std::span<const HostAccess> accesses,
                         HostWork& work) = 0;
  virtual Status Flush() = 0;
  // Makes the memory, with its current contents, the result number `result` of
  // the run.
  virtual Status StageResult(size_t result, const MemoryReference& memory,
                             MemoryPool& pool) = 0;
  // Ends a run whose program ended with `status`. Waits for the appended
  // commands, gives each staged result memory of its own, which may outlive the
  // session, and drops the run's references. Returns `status`, or the error of
  // an appended command.
  virtual Status EndRun(Status status, const std::shared_ptr<MemoryPool>& pool,
                        std::span<Tensor> results) = 0;
  // Returns the site of the dispatch whose index check failed; -1 if none
  // failed.
  virtual int64_t failed_site() const = 0;
  // Frees everything that uses the session's pool. It is called before the pool
  // is destroyed.
  virtual void Close() = 0;

  virtual DeviceWork work() const = 0;
  virtual std::vector<HostInstruction> host_work() const = 0;
  virtual void ResetWork() = 0;
};

using DeviceSupportFactory = std::shared_ptr<DeviceSupport> (*)(
    std::shared_ptr<hal::Device> device, std::shared_ptr<const Module> module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DEVICE_SUPPORT_H_
