// Command lists of a Metal device.
//
// A list stores its commands when they are recorded. Each submission encodes
// them into a new command buffer, because Metal runs a command buffer only
// once. Between encoders of a buffer Metal orders commands that use the same
// memory. Inside of a compute encoder nothing is ordered except by barriers
// (encoding.h).
#ifndef EMBER_HAL_METAL_COMMAND_LIST_H_
#define EMBER_HAL_METAL_COMMAND_LIST_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/command_list.h"
#include "hal/device_limits.h"
#include "hal/metal/api/functions.h"
#include "hal/metal/context.h"
#include "hal/metal/encoding.h"

namespace ember::hal::metal {

class MetalCommandList final : public CommandList {
 public:
  // Makes an empty list. `context` and `limits` must outlive the list.
  MetalCommandList(Context& context, const DeviceLimits& limits)
      : context_(context), limits_(limits) {}
  // Waits until all submissions of the list are complete.
  ~MetalCommandList() override;

  Status Copy(const BufferRange& source, const BufferRange& target) override;
  Status Fill(const BufferRange& target, uint8_t value) override;
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override;
  Status Barrier() override;

  // Submits the list. Thread-safe.
  StatusOr<std::shared_ptr<Submission>> Submit() const;

 private:
  Context& context_;
  const DeviceLimits& limits_;
  std::vector<Command> commands_;

  // This mutex guards the member below. It is mutable because Submit is const:
  // a submission does not change the list's commands.
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Submission> last_submission_;
};

}  // namespace ember::hal::metal

#endif  // EMBER_HAL_METAL_COMMAND_LIST_H_
