#include "hal/cuda/device.h"

#include <cstring>
#include <optional>
#include <string>

#include "base/concat.h"
#include "hal/cpu/thread_pool.h"
#include "hal/cuda/api/result.h"
#include "hal/cuda/buffer.h"
#include "hal/cuda/command_list.h"
#include "hal/cuda/context.h"
#include "hal/cuda/executable.h"
#include "hal/cuda/library.h"
#include "hal/cuda/memory.h"
#include "hal/cuda/properties.h"
#include "hal/memory_counter.h"

namespace ember::hal {
namespace cuda {
namespace {

using OpenFunction = StatusOr<std::shared_ptr<const Library>> (*)();

class CudaFence final : public Fence {
 public:
  explicit CudaFence(std::shared_ptr<Submission> submission)
      : submission_(std::move(submission)) {}
  Status Wait() override { return submission_->Wait(); }
  bool done() const override { return submission_->IsDone(); }
  StatusOr<double> DeviceMilliseconds() override {
    return submission_->Milliseconds();
  }

 private:
  const std::shared_ptr<Submission> submission_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::string_view driver, std::shared_ptr<Context> context,
             std::unique_ptr<Memory> memory, const DeviceOptions& options)
      : driver_(driver),
        context_(std::move(context)),
        target_(context_->properties().Target()),
        limits_(context_->properties().Limits()),
        memory_(std::move(memory)),
        counter_(options.memory_limit),
        modules_(*context_) {
    if (options.host_runner == nullptr) pool_.emplace(options.threads);
    runner_ = options.host_runner != nullptr ? options.host_runner : &*pool_;
  }

  std::string_view driver() const override { return driver_; }
  std::string_view target() const override { return target_; }
  DeviceLimits limits() const override { return limits_; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind kind) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    const bool is_hidden = kind != MemoryKind::kHostVisible;
    EMBER_RETURN_IF_ERROR(counter_.Take(size, is_hidden));
    StatusOr<MemoryPiece> piece =
        memory_->Allocate(static_cast<uint64_t>(size), kind);
    if (!piece.ok()) {
      counter_.Give(size, is_hidden);
      return piece.status();
    }
    auto buffer =
        std::make_unique<CudaBuffer>(size, *piece, *memory_, counter_);
    if (piece->host != nullptr) {
      std::memset(piece->host, 0, static_cast<size_t>(size));
    } else {
      EMBER_RETURN_IF_ERROR(ZeroOnDevice(*piece));
    }
    return std::unique_ptr<Buffer>(std::move(buffer));
  }
  MemoryStatistics memory_statistics() const override {
    return counter_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<CudaExecutable> executable,
        CudaExecutable::Load(*context_, modules_, definition));
    return std::unique_ptr<Executable>(std::move(executable));
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    return std::unique_ptr<CommandList>(
        std::make_unique<CudaCommandList>(*context_, limits_));
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) override {
    EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Submission> submission,
                           static_cast<const CudaCommandList&>(list).Submit());
    return std::unique_ptr<Fence>(
        std::make_unique<CudaFence>(std::move(submission)));
  }
  ParallelRunner& host_runner() override { return *runner_; }

 private:
  // Clears device memory and does not wait for the end. The stream runs work in
  // order, so later submissions see the zeros, and the memory is not freed
  // before it is cleared.
  Status ZeroOnDevice(const MemoryPiece& piece) {
    const Context::Current current(*context_);
    EMBER_RETURN_IF_ERROR(current.status());
    return context_->Check("cuMemsetD8Async", context_->cu().MemsetD8Async(
                                                  piece.address, 0, piece.bytes,
                                                  context_->stream()));
  }

  const std::string_view driver_;
  const std::shared_ptr<Context> context_;
  const std::string target_;
  const DeviceLimits limits_;
  const std::unique_ptr<Memory> memory_;
  MemoryCounter counter_;
  ModuleCache modules_;
  std::optional<ThreadPool> pool_;
  ParallelRunner* runner_ = nullptr;
};

StatusOr<std::shared_ptr<Device>> Create(std::string_view driver,
                                         OpenFunction open, int index,
                                         const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const Library> library, open());
  if (index < 0 || index >= library->device_count) {
    return NotFoundError(Concat({"expected a device below ",
                                 library->device_count, ", found ", index}));
  }
  EMBER_ASSIGN_OR_RETURN(
      std::shared_ptr<Context> context,
      Context::Create(std::move(library), index, options.timestamps));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Memory> memory,
                         Memory::Create(*context));
  return std::shared_ptr<Device>(std::make_shared<CudaDevice>(
      driver, std::move(context), std::move(memory), options));
}

StatusOr<std::vector<DeviceDescription>> List(std::string_view driver,
                                              OpenFunction open) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Library> library, open());
  std::vector<DeviceDescription> descriptions;
  for (int i = 0; i < library->device_count; ++i) {
    CUdevice device = 0;
    EMBER_RETURN_IF_ERROR(
        ResultStatus("cuDeviceGet", library->cu.DeviceGet(&device, i)));
    EMBER_ASSIGN_OR_RETURN(
        const DeviceProperties properties,
        QueryProperties(library->cu, device, library->is_emulated));
    descriptions.push_back({.name = Concat({driver, ":", i}),
                            .text = properties.name,
                            .target = properties.Target(),
                            .memory_bytes = properties.memory_bytes});
  }
  return descriptions;
}

}  // namespace
}  // namespace cuda

StatusOr<std::shared_ptr<Device>> CreateCudaDevice(
    int index, const DeviceOptions& options) {
  return cuda::Create("cuda", cuda::OpenLibrary, index, options);
}

StatusOr<std::vector<DeviceDescription>> ListCudaDevices() {
  return cuda::List("cuda", cuda::OpenLibrary);
}

StatusOr<std::shared_ptr<Device>> CreateEmulatedCudaDevice(
    int index, const DeviceOptions& options) {
  return cuda::Create("cuda-emulated", cuda::OpenEmulatedLibrary, index,
                      options);
}

StatusOr<std::vector<DeviceDescription>> ListEmulatedCudaDevices() {
  return cuda::List("cuda-emulated", cuda::OpenEmulatedLibrary);
}

}  // namespace ember::hal
