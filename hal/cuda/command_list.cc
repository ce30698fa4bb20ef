#include "hal/cuda/command_list.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "hal/cuda/buffer.h"
#include "hal/cuda/graph.h"
#include "hal/cuda/tensor_maps.h"

namespace ember::hal::cuda {
namespace {

// A list with fewer than this many commands is always submitted command by
// command: making a CUDA graph of it would take more time than launching the
// graph saves.
constexpr size_t kGraphCommands = 4;

}  // namespace

CudaCommandList::CudaCommandList(Context& context, const DeviceLimits& limits)
    : context_(context), limits_(limits) {}

CudaCommandList::~CudaCommandList() {
  if (last_submission_ == nullptr) return;
  if (!last_submission_->Wait().ok()) context_.Finish();
}

Status CudaCommandList::Copy(const BufferRange& source,
                             const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckCopy(source, target));
  if (source.length == 0) return OkStatus();
  commands_.push_back({.kind = Command::Kind::kCopy,
                       .target = AddressOf(target),
                       .source = AddressOf(source),
                       .bytes = static_cast<uint64_t>(source.length)});
  return OkStatus();
}

Status CudaCommandList::Fill(const BufferRange& target, uint8_t value) {
  EMBER_RETURN_IF_ERROR(CheckRange("target of a fill", target));
  if (target.length == 0) return OkStatus();
  commands_.push_back({.kind = Command::Kind::kFill,
                       .target = AddressOf(target),
                       .bytes = static_cast<uint64_t>(target.length),
                       .value = value});
  return OkStatus();
}

Status CudaCommandList::Dispatch(const Executable& executable,
                                 const DispatchArguments& arguments) {
  EMBER_RETURN_IF_ERROR(CheckDispatch(executable, arguments, limits_));
  Command command;
  command.kind = Command::Kind::kDispatch;
  command.executable = static_cast<const CudaExecutable*>(&executable);
  for (size_t i = 0; i < command.chunks.size(); ++i) {
    // A dispatch of 0 chunks does nothing and is not recorded, because CUDA
    // refuses a count of 0.
    if (arguments.chunks[i] == 0) return OkStatus();
    command.chunks[i] = static_cast<unsigned>(arguments.chunks[i]);
  }
  for (const BufferRange& binding : arguments.bindings)
    command.arguments.push_back(AddressOf(binding));
  for (const int64_t parameter : arguments.parameters)
    command.arguments.push_back(static_cast<uint64_t>(parameter));
  const std::vector<BoxMap>& maps = command.executable->maps();
  if (!maps.empty()) {
    auto encoded =
        EncodeMaps(context_, maps, arguments.bindings, arguments.map_extents);
    if (!encoded.ok()) {
      return encoded.status().WithContext(
          Concat({"executable '", executable.name(), "'"}));
    }
    command.maps = *std::move(encoded);
  }
  commands_.push_back(std::move(command));
  return OkStatus();
}

Status CudaCommandList::Barrier() {
  commands_.emplace_back();
  return OkStatus();
}

StatusOr<std::shared_ptr<Submission>> CudaCommandList::Submit() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++submissions_;
  EMBER_ASSIGN_OR_RETURN(last_submission_,
                         context_.Submit([this] { return Enqueue(); }));
  return last_submission_;
}

Status CudaCommandList::Enqueue() const {
  if (submissions_ < 2 || commands_.size() < kGraphCommands)
    return EnqueueOneByOne();
  if (graph_commands_ != commands_.size()) {
    // More commands were recorded, so a new graph is needed. The old one may
    // still be running; its last submission is awaited before it is destroyed.
    if (graph_ != nullptr && last_submission_ != nullptr)
      EMBER_RETURN_IF_ERROR(last_submission_->Wait());
    graph_commands_ = 0;
    EMBER_ASSIGN_OR_RETURN(graph_, Graph::Create(context_, commands_));
    graph_commands_ = commands_.size();
  }
  return context_.Check(
      "cuGraphLaunch",
      context_.cu().GraphLaunch(graph_->handle(), context_.stream()));
}

// Puts the commands on the stream, one after another. The stream runs them in
// order, so barriers need no command.
Status CudaCommandList::EnqueueOneByOne() const {
  const Functions& cu = context_.cu();
  const CUstream stream = context_.stream();
  for (const Command& command : commands_) {
    switch (command.kind) {
      case Command::Kind::kBarrier:
        break;
      case Command::Kind::kCopy:
        EMBER_RETURN_IF_ERROR(context_.Check(
            "cuMemcpyAsync", cu.MemcpyAsync(command.target, command.source,
                                            command.bytes, stream)));
        break;
      case Command::Kind::kFill:
        EMBER_RETURN_IF_ERROR(context_.Check(
            "cuMemsetD8Async", cu.MemsetD8Async(command.target, command.value,
                                                command.bytes, stream)));
        break;
      case Command::Kind::kDispatch: {
        std::vector<void*> arguments = PointersToArguments(command);
        const CudaExecutable& code = *command.executable;
        EMBER_RETURN_IF_ERROR(context_.Check(
            "cuLaunchKernel",
            cu.LaunchKernel(code.function(), command.chunks[0],
                            command.chunks[1], command.chunks[2],
                            code.workgroup()[0], code.workgroup()[1],
                            code.workgroup()[2], code.shared_bytes(), stream,
                            arguments.data(), nullptr)));
        break;
      }
    }
  }
  return OkStatus();
}

}  // namespace ember::hal::cuda
