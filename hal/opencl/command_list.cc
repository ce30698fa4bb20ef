#include "hal/opencl/command_list.h"

#include "base/concat.h"
#include "hal/opencl/api/result.h"

namespace ember::hal::opencl {
namespace {

OpenClBuffer& BufferOf(const BufferRange& range) {
  return *static_cast<OpenClBuffer*>(range.buffer);
}

// Returns the address of a range of shared virtual memory.
uint8_t* AddressOf(const BufferRange& range) {
  return static_cast<uint8_t*>(range.buffer->host_data()) + range.offset;
}

size_t OffsetOf(const BufferRange& range) {
  return static_cast<size_t>(range.offset);
}

}  // namespace

OpenClCommandList::~OpenClCommandList() {
  if (last_submission_ != nullptr && !last_submission_->Wait().ok())
    context_.Finish();
  for (const Command& command : commands_) {
    if (command.kernel != nullptr) context_.cl().ReleaseKernel(command.kernel);
  }
}

void OpenClCommandList::Use(const BufferRange& range) {
  OpenClBuffer& buffer = BufferOf(range);
  if (buffer.is_pinned()) pinned_.insert(&buffer);
}

Status OpenClCommandList::Copy(const BufferRange& source,
                               const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckCopy(source, target));
  if (source.length == 0) return OkStatus();
  Use(source);
  Use(target);
  commands_.push_back(
      {.kind = Command::Kind::kCopy, .source = source, .target = target});
  return OkStatus();
}

Status OpenClCommandList::Fill(const BufferRange& target, uint8_t value) {
  EMBER_RETURN_IF_ERROR(CheckRange("target of a fill", target));
  if (target.length == 0) return OkStatus();
  Use(target);
  commands_.push_back(
      {.kind = Command::Kind::kFill, .target = target, .value = value});
  return OkStatus();
}

Status OpenClCommandList::Dispatch(const Executable& executable,
                                   const DispatchArguments& arguments) {
  EMBER_RETURN_IF_ERROR(CheckDispatch(executable, arguments, limits_));
  EMBER_RETURN_IF_ERROR(context_.Alive());
  const auto& code = static_cast<const OpenClExecutable&>(executable);
  Command command = {.workgroup = code.workgroup()};
  for (size_t i = 0; i < command.invocations.size(); ++i) {
    // A dispatch of 0 chunks does nothing and is not recorded, because OpenCL
    // 1.2 refuses a count of 0.
    if (arguments.chunks[i] == 0) return OkStatus();
    command.invocations[i] =
        static_cast<size_t>(arguments.chunks[i]) * command.workgroup[i];
  }
  EMBER_ASSIGN_OR_RETURN(command.kernel, code.NewKernel());
  const Status status = SetArguments(command.kernel, arguments);
  if (!status.ok()) {
    context_.cl().ReleaseKernel(command.kernel);
    return status.WithContext(Concat({"executable '", code.name(), "'"}));
  }
  for (const BufferRange& binding : arguments.bindings) Use(binding);
  commands_.push_back(command);
  return OkStatus();
}

Status OpenClCommandList::SetArguments(cl_kernel kernel,
                                       const DispatchArguments& arguments) {
  const Functions& cl = context_.cl();
  cl_uint number = 0;
  const auto set = [&](size_t size, const void* value) {
    return context_.Check("clSetKernelArg",
                          cl.SetKernelArg(kernel, number++, size, value));
  };
  for (const BufferRange& binding : arguments.bindings) {
    const OpenClBuffer& buffer = BufferOf(binding);
    if (buffer.has_shared_address()) {
      EMBER_RETURN_IF_ERROR(context_.Check(
          "clSetKernelArgSVMPointer",
          cl.SetKernelArgSVMPointer(kernel, number++, buffer.host_data())));
    } else {
      const cl_mem handle = buffer.handle();
      EMBER_RETURN_IF_ERROR(
          set(sizeof(cl_mem), static_cast<const void*>(&handle)));
    }
    const auto offset = static_cast<cl_ulong>(binding.offset);
    EMBER_RETURN_IF_ERROR(set(sizeof offset, &offset));
  }
  for (const int64_t parameter : arguments.parameters)
    EMBER_RETURN_IF_ERROR(set(sizeof parameter, &parameter));
  return OkStatus();
}

StatusOr<std::shared_ptr<Submission>> OpenClCommandList::Submit() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  EMBER_ASSIGN_OR_RETURN(last_submission_,
                         context_.Submit([this] { return Enqueue(); }));
  return last_submission_;
}

Status OpenClCommandList::Enqueue() const {
  Status status;
  // Pinned buffers are lent to the device for the commands. They are taken back
  // even if a command fails, because the host could not access them otherwise.
  std::vector<OpenClBuffer*> lent;
  for (OpenClBuffer* const buffer : pinned_) {
    if (status.ok()) status = buffer->Lend();
    if (status.ok()) lent.push_back(buffer);
  }
  for (const Command& command : commands_) {
    if (status.ok()) status = EnqueueCommand(command);
  }
  for (OpenClBuffer* const buffer : lent) {
    const Status back = buffer->TakeBack();
    if (status.ok()) status = back;
  }
  return status;
}

Status OpenClCommandList::EnqueueCommand(const Command& command) const {
  switch (command.kind) {
    case Command::Kind::kCopy:
      return EnqueueCopy(command);
    case Command::Kind::kFill:
      return EnqueueFill(command);
    case Command::Kind::kDispatch:
      break;
  }
  return context_.Check("clEnqueueNDRangeKernel",
                        context_.cl().EnqueueNDRangeKernel(
                            context_.queue(), command.kernel, 3, nullptr,
                            command.invocations.data(),
                            command.workgroup.data(), 0, nullptr, nullptr));
}

Status OpenClCommandList::EnqueueCopy(const Command& command) const {
  const Functions& cl = context_.cl();
  const cl_command_queue queue = context_.queue();
  const OpenClBuffer& source = BufferOf(command.source);
  const OpenClBuffer& target = BufferOf(command.target);
  const auto bytes = static_cast<size_t>(command.source.length);
  const size_t from = OffsetOf(command.source), to = OffsetOf(command.target);
  if (source.has_shared_address() && target.has_shared_address()) {
    return context_.Check(
        "clEnqueueSVMMemcpy",
        cl.EnqueueSVMMemcpy(queue, 0, AddressOf(command.target),
                            AddressOf(command.source), bytes, 0, nullptr,
                            nullptr));
  }
  if (source.has_shared_address()) {
    return context_.Check(
        "clEnqueueWriteBuffer",
        cl.EnqueueWriteBuffer(queue, target.handle(), 0, to, bytes,
                              AddressOf(command.source), 0, nullptr, nullptr));
  }
  if (target.has_shared_address()) {
    return context_.Check(
        "clEnqueueReadBuffer",
        cl.EnqueueReadBuffer(queue, source.handle(), 0, from, bytes,
                             AddressOf(command.target), 0, nullptr, nullptr));
  }
  return context_.Check(
      "clEnqueueCopyBuffer",
      cl.EnqueueCopyBuffer(queue, source.handle(), target.handle(), from, to,
                           bytes, 0, nullptr, nullptr));
}

Status OpenClCommandList::EnqueueFill(const Command& command) const {
  const OpenClBuffer& target = BufferOf(command.target);
  const auto bytes = static_cast<size_t>(command.target.length);
  if (target.has_shared_address()) {
    return context_.Check(
        "clEnqueueSVMMemFill",
        context_.cl().EnqueueSVMMemFill(
            context_.queue(), AddressOf(command.target), &command.value,
            sizeof command.value, bytes, 0, nullptr, nullptr));
  }
  return context_.Check("clEnqueueFillBuffer",
                        context_.cl().EnqueueFillBuffer(
                            context_.queue(), target.handle(), &command.value,
                            sizeof command.value, OffsetOf(command.target),
                            bytes, 0, nullptr, nullptr));
}

}  // namespace ember::hal::opencl
