// A device: it allocates memory, loads code and executes command lists in
// order. Every driver implements this narrow interface; hal/null/README.md says
// how to add a driver.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateDevice("cpu", {}));
//
// Ownership: buffers, executables and lists must be destroyed before their
// device; fences may outlive it. Thread-safety: all methods may be called from
// any thread. Errors: Unimplemented if a driver lacks a feature (conformance
// tests are then skipped); ResourceExhausted when memory or a limit runs out;
// FailedPrecondition from every call once the device is lost; a new device must
// then be made.
#ifndef EMBER_HAL_DEVICE_H_
#define EMBER_HAL_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/parallel.h"
#include "base/status.h"
#include "hal/buffer.h"
#include "hal/command_list.h"
#include "hal/device_limits.h"
#include "hal/executable.h"

namespace ember::hal {

struct DeviceOptions {
  // Number of host threads that compute, including the caller's; 0 means one
  // per core.
  int threads = 0;
  // Threads of the application, which are used in place of the device's own.
  // They must outlive the device. Null: the device has its own threads.
  ParallelRunner* host_runner = nullptr;
  // Largest number of bytes of all buffers together; 0 means no limit.
  int64_t memory_limit = 0;
  // Folder in which drivers that compile executables store the results for
  // later processes. Each driver uses a folder of its own in it. If empty,
  // results are not stored.
  std::string cache_folder;
  // True: the device uses its API together with the API's own validation, which
  // prints errors on stderr and is slow. NotFound if there is no validation on
  // this machine. Drivers without such an API ignore this option.
  bool validate = false;
  // True: a device whose memory the host can access behaves as if the host
  // could not: shares_memory is false, and only buffers of kHostVisible have
  // host_data(). The option is for testing code that copies, on machines
  // without a device that needs copies. Drivers whose memory is the host's own
  // ignore this option.
  bool separate_memory = false;
  // True: fences report the time that the device took
  // (Fence::DeviceMilliseconds), if the driver can measure it.
  bool timestamps = false;
};

struct MemoryStatistics {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  // Number of buffers that have been allocated since the device was made.
  int64_t allocations = 0;
  // The peak of the bytes of all buffers that the host cannot access, that is,
  // of those in the device's own memory.
  int64_t hidden_peak_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // Returns the driver's name, such as "cpu".
  virtual std::string_view driver() const = 0;
  // Returns the target string: the machine and the features for which kernels
  // are compiled, such as "x86_64-linux+avx2".
  virtual std::string_view target() const = 0;

  virtual DeviceLimits limits() const { return {}; }
  // True if the device's memory and processors are those of this process.
  // Kernels are then called directly instead of recorded in command lists.
  virtual bool is_host() const { return false; }

  // Returns a zeroed buffer of `size` bytes. The size may be 0.
  virtual StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                                     MemoryKind kind) = 0;
  virtual MemoryStatistics memory_statistics() const = 0;

  virtual StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) = 0;
  virtual StatusOr<std::unique_ptr<CommandList>> CreateCommandList() = 0;
  // Starts the commands of a list of this device. Submissions run in the order
  // in which they were made. Each submission sees everything that earlier ones
  // wrote.
  virtual StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) = 0;

  // Returns the host threads that run tier 0 and host functions. Every driver
  // has such a runner, with at least one thread.
  virtual ParallelRunner& host_runner() = 0;
};

// Describes a device that CreateDevice could make, so that a user can choose
// one.
struct DeviceDescription {
  std::string name;  // name for CreateDevice, such as "cpu" or "vulkan:1"
  // description for display, such as "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string text;
  std::string target;        // result of Device::target()
  int64_t memory_bytes = 0;  // Bytes of the device's own memory or of the
                             // memory that it shares; 0 if unknown.
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_H_
