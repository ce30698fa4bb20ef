// Command lists of an OpenCL device.
//
// A list stores its commands when they are recorded, each dispatch with a
// kernel object that has its arguments. A submission puts the commands on the
// queue, which runs them in order, so barriers need no command.
#ifndef EMBER_HAL_OPENCL_COMMAND_LIST_H_
#define EMBER_HAL_OPENCL_COMMAND_LIST_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "base/status.h"
#include "hal/command_list.h"
#include "hal/device_limits.h"
#include "hal/opencl/buffer.h"
#include "hal/opencl/context.h"
#include "hal/opencl/executable.h"

namespace ember::hal::opencl {

struct Command {
  enum class Kind : uint8_t { kCopy, kFill, kDispatch };
  Kind kind = Kind::kDispatch;
  // The ranges of a kCopy command, or the target of a kFill command. They are
  // never empty.
  BufferRange source = {};
  BufferRange target = {};
  uint8_t value = 0;  // byte value that a kFill command writes
  // The following fields belong to a kDispatch command. The command list owns
  // the kernel object, which has the arguments.
  cl_kernel kernel = nullptr;
  std::array<size_t, 3> invocations = {1, 1, 1};
  std::array<size_t, 3> workgroup = {1, 1, 1};
};

class OpenClCommandList final : public CommandList {
 public:
  // Makes an empty list. `context` and `limits` must outlive the list.
  OpenClCommandList(Context& context, const DeviceLimits& limits)
      : context_(context), limits_(limits) {}
  // Waits until all submissions of the list are complete.
  ~OpenClCommandList() override;

  Status Copy(const BufferRange& source, const BufferRange& target) override;
  Status Fill(const BufferRange& target, uint8_t value) override;
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override;
  Status Barrier() override { return OkStatus(); }

  // Submits the list to the queue. Several threads may call it at once.
  StatusOr<std::shared_ptr<Submission>> Submit() const;

 private:
  void Use(const BufferRange& range);
  Status SetArguments(cl_kernel kernel, const DispatchArguments& arguments);
  Status Enqueue() const;
  Status EnqueueCommand(const Command& command) const;
  Status EnqueueCopy(const Command& command) const;
  Status EnqueueFill(const Command& command) const;

  Context& context_;
  const DeviceLimits& limits_;
  std::vector<Command> commands_;
  // Buffers of pinned memory (buffer.h) that the commands use; each submission
  // lends them to the device.
  std::set<OpenClBuffer*> pinned_;

  // This mutex guards the member below. It is mutable because Submit is const:
  // a submission does not change the list's commands.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Submission> last_submission_;
};

}  // namespace ember::hal::opencl

#endif  // EMBER_HAL_OPENCL_COMMAND_LIST_H_
