#include "hal/metal/command_list.h"

#include "hal/metal/executable.h"

namespace ember::hal::metal {

MetalCommandList::~MetalCommandList() {
  if (last_submission_ != nullptr) static_cast<void>(last_submission_->Wait());
}

Status MetalCommandList::Copy(const BufferRange& source,
                              const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckCopy(source, target));
  if (source.length == 0) return OkStatus();
  commands_.push_back(
      {.kind = Command::Kind::kCopy, .source = source, .target = target});
  return OkStatus();
}

Status MetalCommandList::Fill(const BufferRange& target, uint8_t value) {
  EMBER_RETURN_IF_ERROR(CheckRange("target of a fill", target));
  if (target.length == 0) return OkStatus();
  commands_.push_back(
      {.kind = Command::Kind::kFill, .target = target, .value = value});
  return OkStatus();
}

Status MetalCommandList::Dispatch(const Executable& executable,
                                  const DispatchArguments& arguments) {
  EMBER_RETURN_IF_ERROR(CheckDispatch(executable, arguments, limits_));
  EMBER_RETURN_IF_ERROR(context_.Alive());
  Command command = {
      .kind = Command::Kind::kDispatch,
      .executable = static_cast<const MetalExecutable*>(&executable),
      .bindings = {arguments.bindings.begin(), arguments.bindings.end()},
      .parameters = {arguments.parameters.begin(), arguments.parameters.end()}};
  for (size_t i = 0; i < command.groups.size(); ++i) {
    // Nothing is recorded for 0 chunks, because Metal refuses them.
    if (arguments.chunks[i] == 0) return OkStatus();
    command.groups[i] = static_cast<uint64_t>(arguments.chunks[i]);
  }
  commands_.push_back(std::move(command));
  return OkStatus();
}

Status MetalCommandList::Barrier() {
  commands_.push_back({.kind = Command::Kind::kBarrier});
  return OkStatus();
}

StatusOr<std::shared_ptr<Submission>> MetalCommandList::Submit() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  EMBER_ASSIGN_OR_RETURN(last_submission_,
                         context_.Submit([this](CommandBufferRef commands) {
                           return Encode(context_, commands, commands_);
                         }));
  return last_submission_;
}

}  // namespace ember::hal::metal
