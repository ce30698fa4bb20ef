// A device: memory, code and an order of execution. Every driver implements
// this narrow interface; hal/null/README.md says how to add a driver.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateDevice("cpu", {}));
//
// Ownership: buffers, executables and lists must be destroyed before their
// device; fences may outlive it. Thread-safety: all methods may be called from
// any thread. Errors: Unimplemented if a driver lacks a feature (conformance
// tests are then skipped); ResourceExhausted when memory or a limit runs out;
// FailedPrecondition from every call once the device is lost, until it is made
// anew.
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
  // Threads of the application, used in place of the device's own; must outlive
  // the device. Null: own threads.
  ParallelRunner* host_runner = nullptr;
  // Largest number of bytes of all buffers; 0 means no limit.
  int64_t memory_limit = 0;
  // Folder in which drivers that compile executables keep results for later
  // processes, each in a folder of its own. If empty, nothing is kept.
  std::string cache_folder;
  // True: the device uses its API under that API's own checker, which prints
  // errors on stderr; slow. NotFound if there is no checker. Drivers without
  // such an API ignore this option.
  bool validate = false;
  // True: the device behaves as if the host did not see its memory, where it
  // could: shares_memory is false, and only buffers of kHostVisible have
  // host_data(). It is for tests of code that copies, on machines without such
  // a device. Drivers whose memory is the host's ignore this option.
  bool separate_memory = false;
  // True: fences report the time that the device took
  // (Fence::DeviceMilliseconds), if the driver can.
  bool timestamps = false;
};

struct MemoryStatistics {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t allocations = 0;  // number of allocations since the device was made
  // Peak bytes of buffers that the host cannot see: the device's own memory.
  int64_t hidden_peak_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  // Returns the driver's name, such as "cpu".
  virtual std::string_view driver() const = 0;
  // Returns triple and features that kernels are compiled for, such as
  // "x86_64-linux+avx2".
  virtual std::string_view target() const = 0;

  virtual DeviceLimits limits() const { return {}; }
  // True if the device's memory and processors are those of this process:
  // kernels are called, not recorded.
  virtual bool is_host() const { return false; }

  // Returns zeroed memory of `size` bytes; size 0 gives a buffer too.
  virtual StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                                     MemoryKind kind) = 0;
  virtual MemoryStatistics memory_statistics() const = 0;

  virtual StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) = 0;
  virtual StatusOr<std::unique_ptr<CommandList>> CreateCommandList() = 0;
  // Starts the commands of a list of this device. Submissions run in the order
  // in which they were made, and each sees what earlier ones wrote.
  virtual StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) = 0;

  // Returns the host threads for tier 0 and host functions. Every driver has
  // them, if only a single one.
  virtual ParallelRunner& host_runner() = 0;
};

// A device that could be made, for people who choose one.
struct DeviceDescription {
  std::string name;  // name for CreateDevice, such as "cpu" or "vulkan:1"
  // text for people, such as "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string text;
  std::string target;        // result of Device::target()
  int64_t memory_bytes = 0;  // bytes of its own or shared memory; 0 if unknown
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_H_
