#include "hal/metal/device.h"

#include <optional>
#include <string>
#include <utility>

#include "base/concat.h"
#include "hal/cpu/thread_pool.h"
#include "hal/memory_counter.h"
#include "hal/metal/buffer.h"
#include "hal/metal/command_list.h"
#include "hal/metal/context.h"
#include "hal/metal/executable.h"
#include "hal/metal/library.h"
#include "hal/metal/programs.h"

namespace ember::hal {
namespace metal {
namespace {

class MetalFence final : public Fence {
 public:
  explicit MetalFence(std::shared_ptr<Submission> submission)
      : submission_(std::move(submission)) {}
  Status Wait() override { return submission_->Wait(); }
  bool done() const override { return submission_->IsDone(); }
  StatusOr<double> DeviceMilliseconds() override {
    return submission_->Milliseconds();
  }

 private:
  const std::shared_ptr<Submission> submission_;
};

class MetalDevice final : public Device {
 public:
  MetalDevice(std::shared_ptr<Context> context, const DeviceOptions& options)
      : context_(std::move(context)),
        target_(context_->properties().Target()),
        limits_(context_->properties().Limits(options.separate_memory)),
        counter_(options.memory_limit),
        programs_(*context_) {
    if (options.host_runner == nullptr) pool_.emplace(options.threads);
    runner_ = options.host_runner != nullptr ? options.host_runner : &*pool_;
  }

  std::string_view driver() const override { return "metal"; }
  std::string_view target() const override { return target_; }
  DeviceLimits limits() const override { return limits_; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind kind) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    const bool shows_host =
        limits_.shares_memory || kind == MemoryKind::kHostVisible;
    EMBER_RETURN_IF_ERROR(counter_.Take(size, /*is_hidden=*/!shows_host));
    StatusOr<std::unique_ptr<MetalBuffer>> buffer =
        MetalBuffer::Create(*context_, size, shows_host);
    if (!buffer.ok()) {
      counter_.Give(size, /*is_hidden=*/!shows_host);
      return buffer.status();
    }
    (*buffer)->CountIn(counter_);
    return std::unique_ptr<Buffer>(*std::move(buffer));
  }
  MemoryStatistics memory_statistics() const override {
    return counter_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<MetalExecutable> executable,
        MetalExecutable::Load(*context_, programs_, limits_, definition));
    return std::unique_ptr<Executable>(std::move(executable));
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    return std::unique_ptr<CommandList>(
        std::make_unique<MetalCommandList>(*context_, limits_));
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) override {
    EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Submission> submission,
                           static_cast<const MetalCommandList&>(list).Submit());
    return std::unique_ptr<Fence>(
        std::make_unique<MetalFence>(std::move(submission)));
  }
  ParallelRunner& host_runner() override { return *runner_; }

 private:
  const std::shared_ptr<Context> context_;
  const std::string target_;
  const DeviceLimits limits_;
  MemoryCounter counter_;
  Programs programs_;
  std::optional<ThreadPool> pool_;
  ParallelRunner* runner_ = nullptr;
};

}  // namespace
}  // namespace metal

StatusOr<std::shared_ptr<Device>> CreateMetalDevice(
    int index, const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const metal::Library> library,
                         metal::OpenLibrary());
  const size_t count = library->devices.size();
  if (index < 0 || static_cast<size_t>(index) >= count) {
    return NotFoundError(
        Concat({"expected a device below ", count, ", found ", index}));
  }
  EMBER_ASSIGN_OR_RETURN(
      std::shared_ptr<metal::Context> context,
      metal::Context::Create(std::move(library), static_cast<size_t>(index),
                             options.timestamps));
  return std::shared_ptr<Device>(
      std::make_shared<metal::MetalDevice>(std::move(context), options));
}

StatusOr<std::vector<DeviceDescription>> ListMetalDevices() {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const metal::Library> library,
                         metal::OpenLibrary());
  std::vector<DeviceDescription> descriptions;
  for (size_t i = 0; i < library->devices.size(); ++i) {
    // The target depends on compiled code (Context::Create).
    EMBER_ASSIGN_OR_RETURN(
        const std::shared_ptr<metal::Context> context,
        metal::Context::Create(library, i, /*has_times=*/false));
    const metal::DeviceProperties& properties = context->properties();
    descriptions.push_back({.name = Concat({"metal:", i}),
                            .text = properties.name,
                            .target = properties.Target(),
                            .memory_bytes = properties.memory_bytes});
  }
  return descriptions;
}

}  // namespace ember::hal
