#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/metal/testing/fake_commands.h"
#include "hal/metal/testing/fake_functions.h"
#include "hal/metal/testing/fake_state.h"

namespace ember::hal::metal::fake {
namespace {

template <typename Ref, typename Class>
Ref NewEncoder(CommandBufferRef ref, std::string_view name) {
  const auto commands = Get<FakeCommands>(ref, name);
  if (Fails(name) || commands == nullptr) return nullptr;
  return Give<Ref>(std::make_shared<Class>(commands));
}

// True if a copy or fill may use the range.
bool IsUsable(const FakeBuffer& buffer, uint64_t offset, uint64_t size,
              std::string_view function) {
  if (size == 0 || offset % kBlitAlignment != 0 || size % kBlitAlignment != 0) {
    NoteMisuse(function, "a range that macOS refuses");
    return false;
  }
  if (offset <= buffer.bytes && size <= buffer.bytes - offset) return true;
  NoteMisuse(function, "bytes beyond the buffer");
  return false;
}

}  // namespace

CommandBufferRef NewCommandBuffer(QueueRef ref) {
  EMBER_LOCK;
  const auto queue = Get<FakeQueue>(ref, "NewCommandBuffer");
  if (Fails("NewCommandBuffer") || queue == nullptr) return nullptr;
  return Give<CommandBufferRef>(std::make_shared<FakeCommands>(queue));
}

ComputeRef NewComputeEncoder(CommandBufferRef ref) {
  EMBER_LOCK;
  return NewEncoder<ComputeRef, FakeCompute>(ref, "NewComputeEncoder");
}

BlitRef NewBlitEncoder(CommandBufferRef ref) {
  EMBER_LOCK;
  return NewEncoder<BlitRef, FakeBlit>(ref, "NewBlitEncoder");
}

void SetPipeline(ComputeRef encoder, PipelineRef pipeline) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "SetPipeline");
  if (compute != nullptr)
    compute->pipeline = Get<FakePipeline>(pipeline, "SetPipeline");
}

void SetBuffer(ComputeRef encoder, BufferRef ref, uint64_t offset,
               uint32_t index) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "SetBuffer");
  const auto buffer = Get<FakeBuffer>(ref, "SetBuffer");
  if (compute == nullptr || buffer == nullptr) return;
  if (offset >= buffer->bytes || index >= kBufferIndices)
    return NoteMisuse("SetBuffer", "an offset or index beyond the end");
  compute->bindings[index] = {.buffer = buffer, .offset = offset};
}

void SetBytes(ComputeRef encoder, const void* bytes, uint64_t size,
              uint32_t index) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "SetBytes");
  if (compute == nullptr) return;
  if (size == 0 || size > kMaxSetBytes || index >= kBufferIndices)
    return NoteMisuse("SetBytes", "a size or index that Metal refuses");
  const auto* const begin = static_cast<const uint8_t*>(bytes);
  compute->bindings[index] = {
      .bytes = std::make_shared<std::vector<uint8_t>>(begin, begin + size)};
}

void SetThreadgroupMemory(ComputeRef encoder, uint64_t bytes, uint32_t index) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "SetThreadgroupMemory");
  if (compute == nullptr) return;
  if (index != 0 || bytes % kThreadgroupMemoryAlignment != 0 ||
      bytes > kThreadgroupBytes)
    return NoteMisuse("SetThreadgroupMemory", "a length that Metal refuses");
  compute->threadgroup_bytes = bytes;
}

void DispatchThreadgroups(ComputeRef encoder, const Extent& groups,
                          const Extent& threads) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "DispatchThreadgroups");
  if (compute != nullptr) compute->Dispatch(groups, threads);
}

void BufferBarrier(ComputeRef encoder) {
  EMBER_LOCK;
  const auto compute = Get<FakeCompute>(encoder, "BufferBarrier");
  if (compute != nullptr) compute->Separate();
}

void CopyBuffer(BlitRef encoder, BufferRef source_ref, uint64_t source_offset,
                BufferRef target_ref, uint64_t target_offset, uint64_t size) {
  EMBER_LOCK;
  const auto blit = Get<FakeBlit>(encoder, "CopyBuffer");
  const auto source = Get<FakeBuffer>(source_ref, "CopyBuffer");
  const auto target = Get<FakeBuffer>(target_ref, "CopyBuffer");
  if (blit == nullptr || source == nullptr || target == nullptr ||
      !IsUsable(*source, source_offset, size, "CopyBuffer") ||
      !IsUsable(*target, target_offset, size, "CopyBuffer"))
    return;
  blit->Add(
      [=] {
        std::memmove(target->begin + target_offset,
                     source->begin + source_offset, size);
        return std::string();
      },
      "CopyBuffer");
}

void FillBuffer(BlitRef encoder, BufferRef ref, uint64_t offset, uint64_t size,
                uint8_t value) {
  EMBER_LOCK;
  const auto blit = Get<FakeBlit>(encoder, "FillBuffer");
  const auto buffer = Get<FakeBuffer>(ref, "FillBuffer");
  if (blit == nullptr || buffer == nullptr ||
      !IsUsable(*buffer, offset, size, "FillBuffer"))
    return;
  blit->Add(
      [=] {
        std::memset(buffer->begin + offset, value, size);
        return std::string();
      },
      "FillBuffer");
}

void EndEncoding(void* encoder) {
  EMBER_LOCK;
  const auto found = TheState().live.find(encoder);
  const bool is_encoder = found != TheState().live.end() &&
                          (found->second->kind == FakeBlit::kKind ||
                           found->second->kind == FakeCompute::kKind);
  if (!is_encoder)
    return NoteMisuse("EndEncoding", "an encoder that does not exist");
  static_cast<FakeEncoder&>(*found->second).End();
}

void Commit(CommandBufferRef ref) {
  EMBER_LOCK;
  const auto commands = Get<FakeCommands>(ref, "Commit");
  if (commands == nullptr) return;
  if (Fails("Commit")) {
    commands->fails = true;
    commands->error = {.code = TheState().fault_result,
                       .text = "the fake's commands fail"};
  }
  commands->queue->Commit(commands);
}

void WaitUntilCompleted(CommandBufferRef ref) {
  EMBER_LOCK;
  const auto commands = Get<FakeCommands>(ref, "WaitUntilCompleted");
  if (commands != nullptr) commands->queue->RunUpTo(*commands);
}

CommandStatus StatusOf(CommandBufferRef ref) {
  EMBER_LOCK;
  const auto commands = Get<FakeCommands>(ref, "StatusOf");
  if (commands == nullptr) return CommandStatus::kError;
  if (commands->status != CommandStatus::kCommitted) return commands->status;
  if (++commands->polls == 1) return CommandStatus::kScheduled;
  commands->queue->RunUpTo(*commands);
  return commands->status;
}

Error ErrorOf(CommandBufferRef ref) {
  EMBER_LOCK;
  const auto commands = Get<FakeCommands>(ref, "ErrorOf");
  return commands == nullptr ? Error() : commands->error;
}

double GpuSecondsOf(CommandBufferRef ref) {
  EMBER_LOCK;
  const auto commands = Get<FakeCommands>(ref, "GpuSecondsOf");
  constexpr double kSeconds = 0.25;
  return commands != nullptr && commands->status == CommandStatus::kCompleted
             ? kSeconds
             : 0;
}

}  // namespace ember::hal::metal::fake
