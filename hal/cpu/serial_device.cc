#include "hal/cpu/serial_device.h"

#include "base/parallel.h"
#include "hal/cpu/host_memory.h"
#include "hal/memory_counter.h"

namespace ember::hal {
namespace {

class SerialDevice final : public Device {
 public:
  SerialDevice(const DeviceOptions& options, const HostAllocator& allocator)
      : allocator_(allocator),
        memory_(options.memory_limit),
        runner_(options.host_runner != nullptr ? *options.host_runner
                                               : serial_) {}

  std::string_view driver() const override { return "cpu"; }
  // The target is empty, because no kernel is ever compiled for this device.
  std::string_view target() const override { return {}; }
  bool is_host() const override { return true; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind) override {
    return AllocateHostBuffer(size, allocator_, memory_);
  }
  MemoryStatistics memory_statistics() const override {
    return memory_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition&) override {
    return NotForCommands();
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    return NotForCommands();
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList&) override {
    return NotForCommands();
  }
  ParallelRunner& host_runner() override { return runner_; }

 private:
  static Status NotForCommands() {
    return UnimplementedError(
        "serial cpu device: expected a session, found commands");
  }

  const HostAllocator allocator_;
  MemoryCounter memory_;
  SerialRunner serial_;
  ParallelRunner& runner_;
};

}  // namespace

StatusOr<std::shared_ptr<Device>> CreateSerialDevice(
    const DeviceOptions& options, const HostAllocator& allocator) {
  return std::shared_ptr<Device>(
      std::make_shared<SerialDevice>(options, allocator));
}

}  // namespace ember::hal
