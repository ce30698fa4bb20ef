// Command lists of a CUDA device.
//
// A list keeps its commands as they are recorded. The first submission puts
// them on the stream one by one. From the second one on a CUDA graph of them is
// launched: that is a single call for the host, and commands between two
// barriers may run at once. A list that grows gets a new graph.
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
  // device address that a kCopy or kFill command writes to
  CUdeviceptr target = 0;
  CUdeviceptr source = 0;  // device address that a kCopy command reads from
  uint64_t bytes = 0;  // number of bytes of a kCopy or kFill command; never 0
  uint8_t value = 0;   // byte that a kFill command writes
  // The fields of a kDispatch command; none of the counts is 0. `arguments` are
  // those of bindings, then of parameters, 8 bytes each; the tensor maps
  // follow.
  const CudaExecutable* executable = nullptr;
  std::array<unsigned, 3> chunks = {1, 1, 1};
  std::vector<uint64_t> arguments = {};
  std::vector<CUtensorMap> maps = {};
};

// Returns pointers to all arguments of a dispatch, for cuLaunchKernel; valid as
// long as the command.
std::vector<void*> PointersToArguments(const Command& command);

class Graph;

class CudaCommandList final : public CommandList {
 public:
  // Makes an empty list. Context and limits must outlive the list.
  CudaCommandList(Context& context, const DeviceLimits& limits);
  // Waits for the list's submissions.
  ~CudaCommandList() override;

  Status Copy(const BufferRange& source, const BufferRange& target) override;
  Status Fill(const BufferRange& target, uint8_t value) override;
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override;
  Status Barrier() override;

  // Submits the list. Thread-safe.
  StatusOr<std::shared_ptr<Submission>> Submit() const;

 private:
  Status Enqueue() const;
  Status EnqueueOneByOne() const;

  Context& context_;
  const DeviceLimits& limits_;
  std::vector<Command> commands_;

  // The members below are mutable because Submit is const: the commands do not
  // change.
  mutable std::mutex mutex_;  // guards the members below
  mutable int64_t submissions_ = 0;
  mutable std::shared_ptr<Submission> last_submission_;
  mutable size_t graph_commands_ = 0;  // number of commands in the graph
  mutable std::unique_ptr<Graph> graph_;
};

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_COMMAND_LIST_H_
