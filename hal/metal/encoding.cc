#include "hal/metal/encoding.h"

#include <algorithm>
#include <utility>

#include "hal/metal/api/owned.h"
#include "hal/metal/api/result.h"
#include "hal/metal/buffer.h"
#include "hal/metal/byte_kernels.h"

namespace ember::hal::metal {
namespace {

// The index of the buffer with a kernel's parameters.
constexpr uint32_t kParametersIndex = kBufferIndices - 1;

BufferRef HandleOf(const BufferRange& range) {
  return static_cast<const MetalBuffer*>(range.buffer)->handle();
}

uint64_t OffsetOf(const BufferRange& range) {
  return static_cast<uint64_t>(range.offset);
}

uint64_t BytesOf(const BufferRange& range) {
  return static_cast<uint64_t>(range.length);
}

// True if Metal's own copies and fills may have the range on every system.
bool SuitsBlits(const BufferRange& range) {
  return OffsetOf(range) % kBlitAlignment == 0 &&
         BytesOf(range) % kBlitAlignment == 0;
}

// The open encoder of a command buffer, of either kind.
class Encoder {
 public:
  Encoder(const Context& context, CommandBufferRef commands)
      : context_(context), metal_(context.metal()), commands_(commands) {}
  ~Encoder() { End(); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  Status Add(const Command& command);

 private:
  StatusOr<ComputeRef> Compute();
  StatusOr<BlitRef> Blit();
  void End();
  Status AddDispatch(const Command& command);
  Status RunByteKernel(PipelineRef pipeline, const Extent& numbers,
                       uint64_t bytes, BufferRef target, BufferRef source);

  const Context& context_;
  const Functions& metal_;
  const CommandBufferRef commands_;
  // At most one of the two is open.
  Owned<ComputeRef> compute_;
  Owned<BlitRef> blit_;
  bool needs_barrier_ = false;
};

void Encoder::End() {
  if (compute_.get() != nullptr) metal_.EndEncoding(compute_.get());
  if (blit_.get() != nullptr) metal_.EndEncoding(blit_.get());
  compute_ = {};
  blit_ = {};
  needs_barrier_ = false;
}

StatusOr<ComputeRef> Encoder::Compute() {
  if (compute_.get() == nullptr) {
    End();
    compute_ = Owned(metal_, metal_.NewComputeEncoder(commands_));
    if (compute_.get() == nullptr) {
      return context_.WithName(
          NilStatus(StatusCode::kResourceExhausted, "computeCommandEncoder"));
    }
  }
  if (std::exchange(needs_barrier_, false))
    metal_.BufferBarrier(compute_.get());
  return compute_.get();
}

StatusOr<BlitRef> Encoder::Blit() {
  if (blit_.get() != nullptr) return blit_.get();
  End();
  blit_ = Owned(metal_, metal_.NewBlitEncoder(commands_));
  if (blit_.get() != nullptr) return blit_.get();
  return context_.WithName(
      NilStatus(StatusCode::kResourceExhausted, "blitCommandEncoder"));
}

Status Encoder::Add(const Command& command) {
  const BufferRange &source = command.source, &target = command.target;
  switch (command.kind) {
    case Command::Kind::kBarrier:
      if (blit_.get() != nullptr) End();
      needs_barrier_ = compute_.get() != nullptr;
      return OkStatus();
    case Command::Kind::kCopy: {
      if (!SuitsBlits(source) || !SuitsBlits(target)) {
        return RunByteKernel(
            context_.copy_bytes(),
            {OffsetOf(target), OffsetOf(source), BytesOf(source)},
            BytesOf(source), HandleOf(target), HandleOf(source));
      }
      EMBER_ASSIGN_OR_RETURN(const BlitRef blit, Blit());
      metal_.CopyBuffer(blit, HandleOf(source), OffsetOf(source),
                        HandleOf(target), OffsetOf(target), BytesOf(source));
      return OkStatus();
    }
    case Command::Kind::kFill: {
      if (!SuitsBlits(target)) {
        return RunByteKernel(context_.fill_bytes(),
                             {OffsetOf(target), BytesOf(target), command.value},
                             BytesOf(target), HandleOf(target), nullptr);
      }
      EMBER_ASSIGN_OR_RETURN(const BlitRef blit, Blit());
      metal_.FillBuffer(blit, HandleOf(target), OffsetOf(target),
                        BytesOf(target), command.value);
      return OkStatus();
    }
    case Command::Kind::kDispatch:
      return AddDispatch(command);
  }
  return OkStatus();
}

Status Encoder::AddDispatch(const Command& command) {
  EMBER_ASSIGN_OR_RETURN(const ComputeRef compute, Compute());
  const MetalExecutable& executable = *command.executable;
  metal_.SetPipeline(compute, executable.pipeline());
  for (uint32_t i = 0; i < command.bindings.size(); ++i) {
    const BufferRange& range = command.bindings[i];
    // An offset must be in the buffer, that of an empty range need not be.
    metal_.SetBuffer(compute, HandleOf(range),
                     range.length == 0 ? 0 : OffsetOf(range), i);
  }
  if (!command.parameters.empty()) {
    metal_.SetBytes(compute, command.parameters.data(),
                    command.parameters.size() * sizeof(int64_t),
                    kParametersIndex);
  }
  metal_.SetThreadgroupMemory(compute, executable.shared_bytes(), 0);
  metal_.DispatchThreadgroups(compute, command.groups, executable.workgroup());
  return OkStatus();
}

Status Encoder::RunByteKernel(PipelineRef pipeline, const Extent& numbers,
                              uint64_t bytes, BufferRef target,
                              BufferRef source) {
  EMBER_ASSIGN_OR_RETURN(const ComputeRef compute, Compute());
  metal_.SetPipeline(compute, pipeline);
  metal_.SetBuffer(compute, target, 0, 0);
  if (source != nullptr) metal_.SetBuffer(compute, source, 0, 1);
  metal_.SetBytes(compute, numbers.data(), sizeof numbers, kParametersIndex);
  const uint64_t groups = (bytes + kByteThreads - 1) / kByteThreads;
  metal_.DispatchThreadgroups(compute, {std::min(groups, kMaxByteGroups), 1, 1},
                              {kByteThreads, 1, 1});
  return OkStatus();
}

}  // namespace

Status Encode(const Context& context, CommandBufferRef command_buffer,
              std::span<const Command> commands) {
  Encoder encoder(context, command_buffer);
  for (const Command& command : commands)
    EMBER_RETURN_IF_ERROR(encoder.Add(command));
  return OkStatus();
}

}  // namespace ember::hal::metal
