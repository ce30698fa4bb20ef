// Work for a device, recorded once and submitted any number of times.
//
//   EMBER_ASSIGN_OR_RETURN(auto list, device->CreateCommandList());
//   EMBER_RETURN_IF_ERROR(list->Copy({a, 0, 64}, {b, 0, 64}));
//   EMBER_RETURN_IF_ERROR(list->Barrier());
//   EMBER_RETURN_IF_ERROR(list->Dispatch(*executable, {.chunks = {8}, ...}));
//   EMBER_ASSIGN_OR_RETURN(auto fence, device->Submit(*list));
//   EMBER_RETURN_IF_ERROR(fence->Wait());
//
// Commands between two barriers may run in any order and at once. Recording a
// command checks its arguments (ranges inside their buffers, counts,
// alignment). It returns InvalidArgument for wrong arguments and
// ResourceExhausted for arguments above a limit of the device. A command that
// is refused is not added to the list. A list may be submitted again while it
// runs. After a submission more commands may be recorded; they run after the
// ones that are in the list already. Buffers and executables must outlive the
// list. Thread-safety: one thread records; a list must not be changed while it
// runs.
#ifndef EMBER_HAL_COMMAND_LIST_H_
#define EMBER_HAL_COMMAND_LIST_H_

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "hal/buffer.h"
#include "hal/device_limits.h"
#include "hal/executable.h"

namespace ember::hal {

struct DispatchArguments {
  // Number of chunks along x, y and z. A GPU runs one workgroup for each chunk;
  // a host function is called for each number below the product of the three.
  std::array<int64_t, 3> chunks = {1, 1, 1};
  std::span<const BufferRange> bindings;
  std::span<const int64_t> parameters;
  // Extents of the tensors that the executable's tensor maps describe: for each
  // map in order, one extent for each dim, the outermost dim first.
  std::span<const int64_t> map_extents;
};

class CommandList {
 public:
  virtual ~CommandList() = default;

  // Records a copy from `source` to `target`. The ranges must not overlap.
  virtual Status Copy(const BufferRange& source, const BufferRange& target) = 0;
  virtual Status Fill(const BufferRange& target, uint8_t value) = 0;
  virtual Status Dispatch(const Executable& executable,
                          const DispatchArguments& arguments) = 0;
  // Records a barrier. Commands after it start only when all commands before it
  // have finished and their writes are visible.
  virtual Status Barrier() = 0;
};

// A fence represents one submission; it is complete when all commands of the
// submission are.
class Fence {
 public:
  virtual ~Fence() = default;
  // Waits until the submission is complete, then returns its error, if any. It
  // may be called again.
  virtual Status Wait() = 0;
  // True if the submission is complete, or if the device is lost so that it
  // will never complete.
  virtual bool done() const = 0;
  // Waits for the submission, then returns the milliseconds that the device
  // took. Returns Unimplemented if the driver cannot measure the time or if the
  // device was made without DeviceOptions::timestamps.
  virtual StatusOr<double> DeviceMilliseconds() {
    return UnimplementedError("expected a device that takes times, found none");
  }
};

// These functions check the arguments of commands and return an error if they
// are wrong. Drivers call them when a command is recorded.
Status CheckRange(std::string_view what, const BufferRange& range);
Status CheckCopy(const BufferRange& source, const BufferRange& target);
Status CheckDispatch(const Executable& executable,
                     const DispatchArguments& arguments,
                     const DeviceLimits& limits);

}  // namespace ember::hal

#endif  // EMBER_HAL_COMMAND_LIST_H_
