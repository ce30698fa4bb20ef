#include "hal/metal/testing/fake_metal.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "hal/metal/testing/fake_commands.h"
#include "hal/metal/testing/fake_state.h"
#include "hal/metal/testing/msl_program.h"

#define EMBER_EXPORT extern "C" __attribute__((visibility("default")))
#define EMBER_LOCK \
  const std::lock_guard<std::recursive_mutex> lock(TheState().mutex)

namespace ember::hal::metal::fake {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{1} << 34;
constexpr uint64_t kThreadgroupBytes = 32768;
constexpr uint64_t kThreads = 1024;
constexpr uint64_t kSubgroup = 32;

struct FakeDevice final : Object {
  static constexpr std::string_view kKind = "device";
  FakeDevice() : Object(kKind) {}
  bool is_low_power = false;
};

struct FakeLibrary final : Object {
  static constexpr std::string_view kKind = "library";
  FakeLibrary() : Object(kKind) {}
  std::shared_ptr<const MslProgram> program;
};

struct FakeFunction final : Object {
  static constexpr std::string_view kKind = "function";
  FakeFunction() : Object(kKind) {}
  std::shared_ptr<const MslProgram> program;
  const MslKernel* kernel = nullptr;
};

// Compiles a program, or takes it from the last ones that were compiled.
std::shared_ptr<const MslProgram> Compile(std::string_view source,
                                          std::string& problem) {
  using Entry = std::pair<std::string, std::shared_ptr<const MslProgram>>;
  static std::deque<Entry>& last = *new std::deque<Entry>;
  constexpr size_t kMaxPrograms = 32;
  const auto found = std::ranges::find(last, source, &Entry::first);
  if (found != last.end()) return found->second;
  auto program = MslProgram::Compile(source, problem);
  if (program == nullptr) return nullptr;
  last.emplace_back(source, program);
  if (last.size() > kMaxPrograms) last.pop_front();
  return program;
}

std::vector<DeviceRef> Devices() {
  EMBER_LOCK;
  if (TheState().live.empty()) ReadEnvironment();
  std::vector<DeviceRef> devices;
  if (Fails("Devices") || TheState().variant == "no_device") return devices;
  if (TheState().variant == "two") {
    auto slow = std::make_shared<FakeDevice>();
    slow->is_low_power = true;
    devices.push_back(Give<DeviceRef>(std::move(slow)));
  }
  devices.push_back(Give<DeviceRef>(std::make_shared<FakeDevice>()));
  return devices;
}

DeviceFacts FactsOf(DeviceRef ref) {
  EMBER_LOCK;
  const auto device = Get<FakeDevice>(ref, "FactsOf");
  const std::string& variant = TheState().variant;
  DeviceFacts facts;
  facts.is_low_power = device != nullptr && device->is_low_power;
  facts.name = facts.is_low_power ? "slow fake" : "fake";
  facts.is_unified = variant != "discrete";
  facts.buffer_bytes = kBufferBytes;
  facts.memory_bytes = 2 * kBufferBytes;
  facts.threadgroup_bytes = kThreadgroupBytes;
  facts.threads = {kThreads, kThreads, 64};
  facts.language = (2 << 16) + (variant == "old_language" ? 1 : 4);
  return facts;
}

QueueRef NewQueue(DeviceRef device) {
  EMBER_LOCK;
  if (Fails("NewQueue") || Get<FakeDevice>(device, "NewQueue") == nullptr)
    return nullptr;
  return Give<QueueRef>(std::make_shared<FakeQueue>());
}

BufferRef NewBuffer(DeviceRef device, uint64_t bytes, Storage storage) {
  EMBER_LOCK;
  if (Fails("NewBuffer") || Get<FakeDevice>(device, "NewBuffer") == nullptr)
    return nullptr;
  if (bytes == 0 || bytes > kBufferBytes) {
    NoteMisuse("NewBuffer", "a length that the device does not have");
    return nullptr;
  }
  const bool is_skewed = TheState().variant == "misaligned";
  auto buffer =
      std::make_shared<FakeBuffer>(bytes, storage, is_skewed ? 16 : 0);
  return buffer->begin == nullptr ? nullptr
                                  : Give<BufferRef>(std::move(buffer));
}

void* ContentsOf(BufferRef ref) {
  EMBER_LOCK;
  if (Fails("ContentsOf")) return nullptr;
  const auto buffer = Get<FakeBuffer>(ref, "ContentsOf");
  if (buffer == nullptr) return nullptr;
  if (buffer->storage == Storage::kShared) return buffer->begin;
  NoteMisuse("ContentsOf", "a private buffer");
  return nullptr;
}

// Metal reports warnings of programs that it compiles, too.
LibraryRef NewLibrary(DeviceRef device, std::string_view source, Error* error) {
  EMBER_LOCK;
  *error = {.code = 3, .text = "warning: the fake always warns"};
  if (Fails("NewLibrary") || Get<FakeDevice>(device, "NewLibrary") == nullptr)
    return nullptr;
  ++TheState().builds;
  std::string problem;
  auto library = std::make_shared<FakeLibrary>();
  library->program = Compile(source, problem);
  if (library->program != nullptr) return Give<LibraryRef>(std::move(library));
  *error = {.code = 3, .text = "Compilation failed:\n" + problem};
  return nullptr;
}

FunctionRef NewFunction(LibraryRef ref, const char* name) {
  EMBER_LOCK;
  const auto library = Get<FakeLibrary>(ref, "NewFunction");
  if (Fails("NewFunction") || library == nullptr) return nullptr;
  auto function = std::make_shared<FakeFunction>();
  function->program = library->program;
  function->kernel = library->program->Find(name);
  return function->kernel == nullptr ? nullptr
                                     : Give<FunctionRef>(std::move(function));
}

PipelineRef NewPipeline(DeviceRef, FunctionRef ref, Error* error) {
  EMBER_LOCK;
  const auto function = Get<FakeFunction>(ref, "NewPipeline");
  if (Fails("NewPipeline") || function == nullptr) {
    *error = {.code = 2, .text = "the fake makes no pipeline"};
    return nullptr;
  }
  auto pipeline = std::make_shared<FakePipeline>();
  pipeline->program = function->program;
  pipeline->kernel = function->kernel;
  return Give<PipelineRef>(std::move(pipeline));
}

PipelineFacts PipelineFactsOf(PipelineRef ref) {
  EMBER_LOCK;
  const auto pipeline = Get<FakePipeline>(ref, "PipelineFactsOf");
  const uint64_t own = pipeline == nullptr ? 0 : pipeline->kernel->max_threads;
  return {.max_threads = own == 0 ? kThreads : own,
          .execution_width = kSubgroup};
}

CommandBufferRef NewCommandBuffer(QueueRef ref) {
  EMBER_LOCK;
  const auto queue = Get<FakeQueue>(ref, "NewCommandBuffer");
  if (Fails("NewCommandBuffer") || queue == nullptr) return nullptr;
  return Give<CommandBufferRef>(std::make_shared<FakeCommands>(queue));
}

template <typename Ref, typename Class>
Ref NewEncoder(CommandBufferRef ref, std::string_view name) {
  const auto commands = Get<FakeCommands>(ref, name);
  if (Fails(name) || commands == nullptr) return nullptr;
  return Give<Ref>(std::make_shared<Class>(commands));
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

void Release(void* object) {
  EMBER_LOCK;
  const auto found = TheState().live.find(object);
  if (found == TheState().live.end())
    return NoteMisuse("Release", "an object that does not exist");
  const std::shared_ptr<Object> released = std::move(found->second);
  TheState().live.erase(found);
  // Committed commands run even if the program no longer has the queue.
  if (released->kind == FakeQueue::kKind)
    static_cast<FakeQueue&>(*released).RunAll();
}

}  // namespace
}  // namespace ember::hal::metal::fake

using ember::hal::metal::fake::TheState;

EMBER_EXPORT const ember::hal::metal::Functions* EmberMetalFunctions() {
  namespace fake = ember::hal::metal::fake;
  static const ember::hal::metal::Functions functions = {
#define EMBER_METAL_ROW(name, result, parameters) .name = fake::name,
      EMBER_METAL_FUNCTIONS(EMBER_METAL_ROW)
#undef EMBER_METAL_ROW
  };
  return &functions;
}
EMBER_EXPORT void EmberFakeReset() {
  EMBER_LOCK;
  auto& state = TheState();
  state.calls.clear();
  state.count_of.clear();
  state.call_count = state.faults = state.builds = 0;
  state.misuse.clear();
  state.is_read = false;
}
EMBER_EXPORT int64_t EmberFakeObjects() {
  EMBER_LOCK;
  return static_cast<int64_t>(TheState().live.size());
}
EMBER_EXPORT int64_t EmberFakeFaults() {
  EMBER_LOCK;
  return TheState().faults;
}
EMBER_EXPORT const char* EmberFakeCalls(uint64_t* bytes) {
  EMBER_LOCK;
  *bytes = TheState().calls.size();
  return TheState().calls.data();
}
EMBER_EXPORT int64_t EmberFakeBuilds() {
  EMBER_LOCK;
  return TheState().builds;
}
EMBER_EXPORT const char* EmberFakeMisuse() {
  EMBER_LOCK;
  return TheState().misuse.c_str();
}
