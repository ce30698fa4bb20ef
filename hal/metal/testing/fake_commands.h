// Command buffers and encoders of the fake functions of Metal (fake_metal.h):
// how commands are checked, ordered and run.
//
//   auto encoder = std::make_shared<FakeBlit>(commands);
//   encoder->Add([=] { … return std::string(); });
//   encoder->End();
//   commands->queue->Commit(commands);
//   commands->queue->RunUpTo(*commands);
//
// Every function that uses these objects holds the state's mutex.
#ifndef EMBER_HAL_METAL_TESTING_FAKE_COMMANDS_H_
#define EMBER_HAL_METAL_TESTING_FAKE_COMMANDS_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/metal/api/functions.h"
#include "hal/metal/testing/fake_state.h"
#include "hal/metal/testing/msl_program.h"

namespace ember::hal::metal::fake {

// Bytes of threadgroup memory that the device has.
inline constexpr uint64_t kThreadgroupBytes = 32768;

struct FakeBuffer final : Object {
  static constexpr std::string_view kKind = "buffer";
  // The contents begin `skew` bytes behind a multiple of 64. They are null if
  // there is not enough memory.
  FakeBuffer(uint64_t size, Storage of_storage, uint64_t skew);

  const uint64_t bytes;
  const Storage storage;
  const std::unique_ptr<uint8_t, void (*)(void*)> memory;
  uint8_t* const begin;
};

struct FakePipeline final : Object {
  static constexpr std::string_view kKind = "pipeline";
  FakePipeline() : Object(kKind) {}

  std::shared_ptr<const MslProgram> program;  // owns the kernel
  const MslKernel* kernel = nullptr;
};

// Runs a command; returns an empty text or an error.
using Work = std::function<std::string()>;

struct FakeCommands;

struct FakeQueue final : Object {
  static constexpr std::string_view kKind = "queue";
  FakeQueue() : Object(kKind) {}

  void Commit(std::shared_ptr<FakeCommands> commands);
  void RunAll();
  // Runs all commands up to and including these, if they were committed.
  void RunUpTo(const FakeCommands& commands);

  std::deque<std::shared_ptr<FakeCommands>> pending;
};

struct FakeCommands final : Object {
  static constexpr std::string_view kKind = "command buffer";
  explicit FakeCommands(std::shared_ptr<FakeQueue> of_queue)
      : Object(kKind), queue(std::move(of_queue)) {}
  void Run();

  const std::shared_ptr<FakeQueue> queue;
  std::vector<Work> works;
  CommandStatus status = CommandStatus::kNotEnqueued;
  bool fails = false;  // true if the commands end with `error`
  Error error;
  bool has_open_encoder = false;
  int polls = 0;  // number of times that the status was asked for
};

struct FakeEncoder : Object {
  FakeEncoder(std::string_view of_kind, std::shared_ptr<FakeCommands> of);
  ~FakeEncoder() override;

  void Add(Work work, std::string_view function);
  // The commands so far run before the next ones.
  void Separate();
  void End();

  const std::shared_ptr<FakeCommands> commands;
  bool is_open = true;
  std::vector<Work> unordered;
};

struct FakeBlit final : FakeEncoder {
  static constexpr std::string_view kKind = "blit encoder";
  explicit FakeBlit(std::shared_ptr<FakeCommands> of)
      : FakeEncoder(kKind, std::move(of)) {}
};

struct FakeCompute final : FakeEncoder {
  static constexpr std::string_view kKind = "compute encoder";
  explicit FakeCompute(std::shared_ptr<FakeCommands> of)
      : FakeEncoder(kKind, std::move(of)) {}
  void Dispatch(const Extent& groups, const Extent& threads);

  // The arguments of the next dispatch.
  struct Binding {
    std::shared_ptr<FakeBuffer> buffer;
    uint64_t offset = 0;
    std::shared_ptr<std::vector<uint8_t>> bytes;  // contents that SetBytes gave
  };
  std::array<Binding, kBufferIndices> bindings;
  std::shared_ptr<FakePipeline> pipeline;
  uint64_t threadgroup_bytes = 0;
};

}  // namespace ember::hal::metal::fake

#endif  // EMBER_HAL_METAL_TESTING_FAKE_COMMANDS_H_
