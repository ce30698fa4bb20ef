#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/metal/testing/fake_commands.h"
#include "hal/metal/testing/fake_functions.h"
#include "hal/metal/testing/fake_state.h"
#include "hal/metal/testing/msl_program.h"

namespace ember::hal::metal::fake {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{1} << 34;
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

}  // namespace

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

}  // namespace ember::hal::metal::fake
