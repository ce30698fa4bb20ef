#include "hal/metal/testing/fake_commands.h"

#include <algorithm>
#include <cstdlib>

#include "base/concat.h"
#include "hal/metal/api/result.h"

namespace ember::hal::metal::fake {
namespace {

constexpr uint64_t kAlignment = 64;

uint8_t* Skewed(void* memory, uint64_t skew) {
  if (memory == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory);
  return static_cast<uint8_t*>(memory) +
         (kAlignment - address % kAlignment) % kAlignment + skew;
}

}  // namespace

FakeBuffer::FakeBuffer(uint64_t size, Storage of_storage, uint64_t skew)
    : Object(kKind),
      bytes(size),
      storage(of_storage),
      memory(static_cast<uint8_t*>(std::calloc(size + 2 * kAlignment, 1)),
             std::free),
      begin(Skewed(memory.get(), skew)) {}

void FakeQueue::Commit(std::shared_ptr<FakeCommands> commands) {
  if (commands->has_open_encoder)
    NoteMisuse("Commit", "a command buffer with an open encoder");
  if (commands->status != CommandStatus::kNotEnqueued)
    return NoteMisuse("Commit", "a command buffer that was committed");
  commands->status = CommandStatus::kCommitted;
  pending.push_back(std::move(commands));
}

void FakeQueue::RunAll() {
  while (!pending.empty()) {
    const std::shared_ptr<FakeCommands> first = std::move(pending.front());
    pending.pop_front();
    first->Run();
  }
}

void FakeQueue::RunUpTo(const FakeCommands& commands) {
  if (commands.status == CommandStatus::kNotEnqueued)
    NoteMisuse("WaitUntilCompleted", "a command buffer that is not committed");
  while (!pending.empty() && commands.status == CommandStatus::kCommitted) {
    const std::shared_ptr<FakeCommands> first = std::move(pending.front());
    pending.pop_front();
    first->Run();
  }
}

void FakeCommands::Run() {
  std::string problem;
  if (!fails) {
    for (const Work& work : works) {
      if (problem.empty()) problem = work();
    }
  }
  works.clear();
  if (!problem.empty()) error = {.code = kInternalError, .text = problem};
  const bool is_wrong = fails || !problem.empty();
  status = is_wrong ? CommandStatus::kError : CommandStatus::kCompleted;
}

FakeEncoder::FakeEncoder(std::string_view of_kind,
                         std::shared_ptr<FakeCommands> of)
    : Object(of_kind), commands(std::move(of)) {
  if (commands->has_open_encoder)
    NoteMisuse(kind, "a second open encoder of a command buffer");
  if (commands->status != CommandStatus::kNotEnqueued)
    NoteMisuse(kind, "an encoder of a command buffer that was committed");
  commands->has_open_encoder = true;
}

FakeEncoder::~FakeEncoder() {
  if (is_open) NoteMisuse(kind, "released without endEncoding");
}

void FakeEncoder::Add(Work work, std::string_view function) {
  if (!is_open) return NoteMisuse(function, "an encoder that has ended");
  unordered.push_back(std::move(work));
}

void FakeEncoder::Separate() {
  for (auto work = unordered.rbegin(); work != unordered.rend(); ++work)
    commands->works.push_back(std::move(*work));
  unordered.clear();
}

void FakeEncoder::End() {
  if (!is_open) return NoteMisuse("EndEncoding", "an encoder that has ended");
  Separate();
  is_open = commands->has_open_encoder = false;
}

void FakeCompute::Dispatch(const Extent& groups, const Extent& threads) {
  constexpr std::string_view kName = "DispatchThreadgroups";
  if (pipeline == nullptr) return NoteMisuse(kName, "no pipeline");
  const MslKernel& kernel = *pipeline->kernel;
  const uint64_t count = threads[0] * threads[1] * threads[2];
  if (std::ranges::find(groups, 0U) != groups.end() || count == 0 ||
      (kernel.max_threads != 0 && count > kernel.max_threads))
    NoteMisuse(kName, "a number of threads that the kernel does not have");
  if (kernel.has_threadgroup_memory && threadgroup_bytes == 0)
    NoteMisuse(kName, "threadgroup memory without a length");
  BufferAddresses addresses = {};
  for (const uint32_t index : kernel.buffers) {
    const Binding& binding = bindings[index];
    if (binding.bytes != nullptr) {
      addresses[index] = binding.bytes->data();
    } else if (binding.buffer != nullptr) {
      addresses[index] = binding.buffer->begin + binding.offset;
    } else {
      return NoteMisuse(kName, Concat({"no buffer at index ", index}));
    }
  }
  // The command keeps alive what it uses.
  Add(
      [groups, threads, addresses, kept = bindings, run = pipeline,
       bytes = threadgroup_bytes] {
        return run->kernel->Run(groups, threads, bytes, addresses);
      },
      kName);
}

}  // namespace ember::hal::metal::fake
