// Command lists of a CUDA device.
//
// A list stores its commands when they are recorded. The first submission puts
// the commands on the stream one by one. Later submissions launch a CUDA graph
// of the commands, unless the list is very short: that is a single call for the
// host, and commands between two barriers may run at once. When more commands
// are recorded, the list gets a new graph at its next submission.
#ifndef EMBER_HAL_CUDA_COMMAND_LIST_H_
#define EMBER_HAL_CUDA_COMMAND_LIST_H_

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "hal/command_list.h"
#include "hal/cuda/context.h"
#include "hal/cuda/executable.h"
#include "hal/device_limits.h"

namespace ember::hal::cuda {

struct Command {
  enum class Kind : uint8_t { kCopy, kFill, kDispatch, kBarrier };
  Kind kind = Kind::kBarrier;
  // Device address to which a kCopy or kFill command writes.
  CUdeviceptr target = 0;
  CUdeviceptr source = 0;  // Device address from which a kCopy command reads.
  uint64_t bytes = 0;  // number of bytes of a kCopy or kFill command; never 0
  uint8_t value = 0;   // byte value that a kFill command writes
  // The fields of a kDispatch command; none of the counts is 0. `arguments` has
  // 8 bytes for each kernel argument: the addresses of the bindings, then the
  // parameters. The tensor maps are further arguments behind them.
  const CudaExecutable* executable = nullptr;
  std::array<unsigned, 3> chunks = {1, 1, 1};
  std::vector<uint64_t> arguments = {};
  std::vector<CUtensorMap> maps = {};
};

// Returns pointers to all kernel arguments of a dispatch, for cuLaunchKernel.
// They are valid as long as the command exists.
std::vector<void*> PointersToArguments(const Command& command);

class Graph;

class CudaCommandList final : public CommandList {
 public:
  // Makes an empty list. `context` and `limits` must outlive the list.
  CudaCommandList(Context& context, const DeviceLimits& limits);
  // Waits until all submissions of the list are complete.
  ~CudaCommandList() override;

  Status Copy(const BufferRange& source, const BufferRange& target) override;
  Status Fill(const BufferRange& target, uint8_t value) override;
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override;
  Status Barrier() override;

  // Submits the list to the stream. Several threads may call it at once.
  StatusOr<std::shared_ptr<Submission>> Submit() const;

 private:
  Status Enqueue() const;
  Status EnqueueOneByOne() const;

  Context& context_;
  const DeviceLimits& limits_;
  std::vector<Command> commands_;

  // The members below are mutable because Submit is const: a submission does
  // not change the list's commands.
  mutable std::mutex mutex_;  // Guards the members below, which Submit changes.
  mutable int64_t submissions_ = 0;
  mutable std::shared_ptr<Submission> last_submission_;
  // Number of commands in graph_
  mutable size_t graph_commands_ = 0;
  mutable std::unique_ptr<Graph> graph_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_COMMAND_LIST_H_
