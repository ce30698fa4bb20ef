#include "hal/null/device.h"

#include <string>

#include "hal/memory_counter.h"

namespace ember::hal {
namespace {

class NullBuffer final : public Buffer {
 public:
  NullBuffer(int64_t size, MemoryCounter& memory)
      : Buffer(size, nullptr), memory_(memory) {}
  ~NullBuffer() override { memory_.Give(size()); }

 private:
  MemoryCounter& memory_;
};

// A command list that checks and counts its commands and then discards them.
class NullCommandList final : public CommandList {
 public:
  Status Copy(const BufferRange& source, const BufferRange& target) override {
    return Record(CheckCopy(source, target));
  }
  Status Fill(const BufferRange& target, uint8_t) override {
    return Record(CheckRange("target of a fill", target));
  }
  Status Dispatch(const Executable& executable,
                  const DispatchArguments& arguments) override {
    return Record(CheckDispatch(executable, arguments, {}));
  }
  Status Barrier() override { return Record(OkStatus()); }

 private:
  Status Record(Status checked) {
    command_count_ += checked.ok();
    return checked;
  }

  int64_t command_count_ = 0;
};

class NullFence final : public Fence {
 public:
  Status Wait() override { return OkStatus(); }
  bool done() const override { return true; }
};

class NullDevice final : public Device {
 public:
  explicit NullDevice(const DeviceOptions& options)
      : memory_(options.memory_limit),
        runner_(options.host_runner != nullptr ? *options.host_runner
                                               : serial_) {}

  std::string_view driver() const override { return "null"; }
  std::string_view target() const override { return "null"; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind kind) override {
    if (kind == MemoryKind::kHostVisible) {
      return UnimplementedError("null device: host-visible memory");
    }
    EMBER_RETURN_IF_ERROR(memory_.Take(size));
    return std::unique_ptr<Buffer>(std::make_unique<NullBuffer>(size, memory_));
  }
  MemoryStatistics memory_statistics() const override {
    return memory_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) override {
    return UnimplementedError("null device: executable format '" +
                              definition.format + "'");
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    return std::unique_ptr<CommandList>(std::make_unique<NullCommandList>());
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList&) override {
    return std::unique_ptr<Fence>(std::make_unique<NullFence>());
  }
  ParallelRunner& host_runner() override { return runner_; }

 private:
  MemoryCounter memory_;
  SerialRunner serial_;
  ParallelRunner& runner_;
};

}  // namespace

StatusOr<std::shared_ptr<Device>> CreateNullDevice(
    const DeviceOptions& options) {
  return std::shared_ptr<Device>(std::make_shared<NullDevice>(options));
}

}  // namespace ember::hal
