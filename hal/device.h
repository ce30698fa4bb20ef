// A device: memory, code and an order of execution. The narrow interface that
// every driver implements; adding a driver is described in hal/null/README.md.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
//                          hal::CreateDevice("cpu", {}));
//
// Ownership: buffers, executables and lists must be gone before their device;
// fences may stay.
// Thread-safety: all methods may be called from any thread.
// Errors: Unimplemented where a driver lacks a feature (conformance tests are
// then skipped); ResourceExhausted when memory or a limit runs out;
// FailedPrecondition once the device is lost, from every call, until it is made
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
  // Threads of the host that compute, the caller's included; 0: one per core.
  int threads = 0;
  // The application's own threads instead; must outlive the device.
  ParallelRunner* host_runner = nullptr;
  // Bytes of all buffers; 0: no limit.
  int64_t memory_limit = 0;
  // Folder for what drivers that compile executables want to find again in
  // later processes; each has a folder of its own in it. Empty: nothing is
  // kept.
  std::string cache_folder;
  // The device uses its API under that API's own checker, which prints on
  // stderr what is wrong; slow. NotFound where there is none. Drivers without
  // an API to check ignore it.
  bool validate = false;
  // The device behaves as one whose memory the host does not see, where it
  // could show it: shares_memory is false, and only buffers of kHostVisible
  // have host_data(). For tests of code that copies, on machines without such a
  // device. Drivers whose memory is the host's ignore it.
  bool separate_memory = false;
  // Fences tell how long the device took (Fence::DeviceMilliseconds), where the
  // driver can.
  bool timestamps = false;
};

struct MemoryStatistics {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
  int64_t allocations = 0;  // since the device was made
  // Of buffers that the host cannot see: memory of the device's own.
  int64_t hidden_peak_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string_view driver() const = 0;  // "cpu"
  // Triple and features that kernels are compiled for: "x86_64-linux+avx2".
  virtual std::string_view target() const = 0;

  virtual DeviceLimits limits() const { return {}; }
  // Its memory and its processors are those of this process: kernels are
  // called, not recorded.
  virtual bool is_host() const { return false; }

  // Zeroed memory of `size` bytes; size 0 gives a buffer too.
  virtual StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                                     MemoryKind kind) = 0;
  virtual MemoryStatistics memory_statistics() const = 0;

  virtual StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) = 0;
  virtual StatusOr<std::unique_ptr<CommandList>> CreateCommandList() = 0;
  // Starts the commands. The list must come from this device. Submissions run
  // in the order in which they were made, and each sees what earlier ones
  // wrote.
  virtual StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) = 0;

  // Host threads, for tier 0 and host functions. Every driver has one, if only
  // the serial one.
  virtual ParallelRunner& host_runner() = 0;
};

// A device that could be made, for people who choose one.
struct DeviceDescription {
  std::string name;          // for CreateDevice: "cpu", "vulkan:1"
  std::string text;          // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string target;        // Device::target()
  int64_t memory_bytes = 0;  // of its own, or shared; 0: not known
};

}  // namespace ember::hal

#endif  // EMBER_HAL_DEVICE_H_
