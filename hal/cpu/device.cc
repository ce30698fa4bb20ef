#include "hal/cpu/device.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "hal/cpu/host_memory.h"
#include "hal/cpu/target.h"
#include "hal/cpu/thread_pool.h"
#include "hal/memory_counter.h"

namespace ember::hal {
namespace {

class HostExecutable final : public Executable {
 public:
  explicit HostExecutable(const ExecutableDefinition& definition)
      : Executable(definition), function_(definition.function) {}
  HostFunction function() const { return function_; }

 private:
  HostFunction function_;
};

struct Command {
  enum Kind : uint8_t { kCopy, kFill, kDispatch } kind;
  BufferRange source;
  BufferRange target;
  uint8_t value = 0;
  HostFunction function = nullptr;
  int64_t chunk_count = 0;
  std::vector<void*> pointers;
  std::vector<int64_t> parameters;
};

uint8_t* Address(const BufferRange& range) {
  return static_cast<uint8_t*>(range.buffer->host_data()) + range.offset;
}

// A command list whose commands run one after another in the order of
// recording, so a barrier has nothing to do.
class CpuCommandList final : public CommandList {
 public:
  Status Copy(const BufferRange& source, const BufferRange& target) override {
    EMBER_RETURN_IF_ERROR(CheckCopy(source, target));
    commands_.push_back(
        {.kind = Command::kCopy, .source = source, .target = target});
    return OkStatus();
  }
  Status Fill(const BufferRange& target, uint8_t value) override {
    EMBER_RETURN_IF_ERROR(CheckRange("target of a fill", target));
    commands_.push_back(
        {.kind = Command::kFill, .target = target, .value = value});
    return OkStatus();
  }
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override {
    EMBER_RETURN_IF_ERROR(CheckDispatch(executable, arguments, {}));
    Command command = {.kind = Command::kDispatch};
    command.function =
        static_cast<const HostExecutable&>(executable).function();
    command.chunk_count =
        arguments.chunks[0] * arguments.chunks[1] * arguments.chunks[2];
    for (const BufferRange& binding : arguments.bindings) {
      command.pointers.push_back(Address(binding));
    }
    command.parameters.assign(arguments.parameters.begin(),
                              arguments.parameters.end());
    commands_.push_back(std::move(command));
    return OkStatus();
  }
  Status Barrier() override { return OkStatus(); }

  void Execute(ParallelRunner& runner) const {
    for (const Command& command : commands_) ExecuteCommand(command, runner);
  }

 private:
  static void ExecuteCommand(const Command& command, ParallelRunner& runner) {
    switch (command.kind) {
      case Command::kCopy:
        std::memcpy(Address(command.target), Address(command.source),
                    static_cast<size_t>(command.source.length));
        break;
      case Command::kFill:
        std::memset(Address(command.target), command.value,
                    static_cast<size_t>(command.target.length));
        break;
      case Command::kDispatch:
        runner.Run(command.chunk_count, [&](int64_t chunk, int worker) {
          command.function(command.parameters.data(), command.pointers.data(),
                           chunk, worker);
        });
        break;
    }
  }

  std::vector<Command> commands_;
};

// A fence that is always complete, because Submit returns only when all
// commands are done.
class CpuFence final : public Fence {
 public:
  Status Wait() override { return OkStatus(); }
  bool done() const override { return true; }
};

class CpuDevice final : public Device {
 public:
  CpuDevice(const DeviceOptions& options, const HostAllocator& allocator)
      : target_(HostTarget()),
        allocator_(allocator),
        memory_(options.memory_limit) {
    if (options.host_runner == nullptr) pool_.emplace(options.threads);
    runner_ = options.host_runner != nullptr ? options.host_runner : &*pool_;
  }

  std::string_view driver() const override { return "cpu"; }
  std::string_view target() const override { return target_; }
  bool is_host() const override { return true; }

  // Allocates a buffer. All memory is host-visible, whatever kind is requested.
  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind) override {
    return AllocateHostBuffer(size, allocator_, memory_);
  }
  MemoryStatistics memory_statistics() const override {
    return memory_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) override {
    if (definition.format != "host-function") {
      return UnimplementedError("cpu device: executable '" + definition.name +
                                "': expected format 'host-function', found '" +
                                definition.format + "'");
    }
    if (!definition.maps.empty()) {
      return UnimplementedError("cpu device: executable '" + definition.name +
                                "': expected no tensor maps, found some");
    }
    if (definition.function == nullptr) {
      return InvalidArgumentError("cpu device: executable '" + definition.name +
                                  "': expected a function, found none");
    }
    return std::unique_ptr<Executable>(
        std::make_unique<HostExecutable>(definition));
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    return std::unique_ptr<CommandList>(std::make_unique<CpuCommandList>());
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) override {
    static_cast<const CpuCommandList&>(list).Execute(*runner_);
    return std::unique_ptr<Fence>(std::make_unique<CpuFence>());
  }
  ParallelRunner& host_runner() override { return *runner_; }

 private:
  const std::string target_;
  const HostAllocator allocator_;
  MemoryCounter memory_;
  std::optional<ThreadPool> pool_;
  ParallelRunner* runner_ = nullptr;
};

}  // namespace

StatusOr<std::shared_ptr<Device>> CreateCpuDevice(
    const DeviceOptions& options) {
  return CreateCpuDevice(options, HostAllocator());
}

StatusOr<std::shared_ptr<Device>> CreateCpuDevice(
    const DeviceOptions& options, const HostAllocator& allocator) {
  return std::shared_ptr<Device>(
      std::make_shared<CpuDevice>(options, allocator));
}

StatusOr<std::vector<DeviceDescription>> ListCpuDevices() {
  return std::vector<DeviceDescription>{{.name = "cpu",
                                         .text = HostName(),
                                         .target = HostTarget(),
                                         .memory_bytes = HostMemoryBytes()}};
}

}  // namespace ember::hal
