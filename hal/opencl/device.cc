#include "hal/opencl/device.h"

#include <optional>
#include <string>
#include <utility>

#include "base/concat.h"
#include "hal/cpu/thread_pool.h"
#include "hal/memory_counter.h"
#include "hal/opencl/buffer.h"
#include "hal/opencl/command_list.h"
#include "hal/opencl/context.h"
#include "hal/opencl/executable.h"
#include "hal/opencl/library.h"
#include "hal/opencl/program_cache.h"

namespace ember::hal {
namespace opencl {
namespace {

class OpenClFence final : public Fence {
 public:
  explicit OpenClFence(std::shared_ptr<Submission> submission)
      : submission_(std::move(submission)) {}
  Status Wait() override { return submission_->Wait(); }
  bool done() const override { return submission_->IsDone(); }
  StatusOr<double> DeviceMilliseconds() override {
    return submission_->Milliseconds();
  }

 private:
  const std::shared_ptr<Submission> submission_;
};

class OpenClDevice final : public Device {
 public:
  OpenClDevice(std::shared_ptr<Context> context, const DeviceOptions& options)
      : context_(std::move(context)),
        target_(context_->properties().Target()),
        limits_(context_->properties().Limits(options.separate_memory)),
        counter_(options.memory_limit),
        programs_(*context_, options.cache_folder) {
    if (options.host_runner == nullptr) pool_.emplace(options.threads);
    runner_ = options.host_runner != nullptr ? options.host_runner : &*pool_;
  }

  std::string_view driver() const override { return "opencl"; }
  std::string_view target() const override { return target_; }
  DeviceLimits limits() const override { return limits_; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind kind) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    const bool shows_host =
        limits_.shares_memory || kind == MemoryKind::kHostVisible;
    EMBER_RETURN_IF_ERROR(counter_.Take(size, /*is_hidden=*/!shows_host));
    StatusOr<std::unique_ptr<OpenClBuffer>> buffer =
        OpenClBuffer::Create(*context_, size, shows_host);
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
        std::unique_ptr<OpenClExecutable> executable,
        OpenClExecutable::Load(*context_, programs_, limits_, definition));
    return std::unique_ptr<Executable>(std::move(executable));
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    return std::unique_ptr<CommandList>(
        std::make_unique<OpenClCommandList>(*context_, limits_));
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) override {
    EMBER_ASSIGN_OR_RETURN(
        std::shared_ptr<Submission> submission,
        static_cast<const OpenClCommandList&>(list).Submit());
    return std::unique_ptr<Fence>(
        std::make_unique<OpenClFence>(std::move(submission)));
  }
  ParallelRunner& host_runner() override { return *runner_; }

 private:
  const std::shared_ptr<Context> context_;
  const std::string target_;
  const DeviceLimits limits_;
  MemoryCounter counter_;
  ProgramCache programs_;
  std::optional<ThreadPool> pool_;
  ParallelRunner* runner_ = nullptr;
};

}  // namespace
}  // namespace opencl

StatusOr<std::shared_ptr<Device>> CreateOpenClDevice(
    int index, const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const opencl::Library> library,
                         opencl::OpenLibrary());
  const size_t count = library->devices.size();
  if (index < 0 || static_cast<size_t>(index) >= count) {
    return NotFoundError(
        Concat({"expected a device below ", count, ", found ", index}));
  }
  EMBER_ASSIGN_OR_RETURN(
      std::shared_ptr<opencl::Context> context,
      opencl::Context::Create(std::move(library), static_cast<size_t>(index),
                              options.timestamps));
  return std::shared_ptr<Device>(
      std::make_shared<opencl::OpenClDevice>(std::move(context), options));
}

StatusOr<std::vector<DeviceDescription>> ListOpenClDevices() {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const opencl::Library> library,
                         opencl::OpenLibrary());
  std::vector<DeviceDescription> descriptions;
  for (const opencl::FoundDevice& device : library->devices) {
    descriptions.push_back(
        {.name = Concat({"opencl:", descriptions.size()}),
         .text = Concat({device.properties.name, " (driver ",
                         device.properties.driver_version, ")"}),
         .target = device.properties.Target(),
         .memory_bytes = device.properties.memory_bytes});
  }
  return descriptions;
}

}  // namespace ember::hal
