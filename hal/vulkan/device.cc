#include "hal/vulkan/device.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "base/concat.h"
#include "hal/cpu/thread_pool.h"
#include "hal/memory_counter.h"
#include "hal/vulkan/buffer.h"
#include "hal/vulkan/command_list.h"
#include "hal/vulkan/context.h"
#include "hal/vulkan/executable.h"
#include "hal/vulkan/instance.h"
#include "hal/vulkan/memory.h"
#include "hal/vulkan/pipeline_cache.h"

namespace ember::hal {
namespace vulkan {
namespace {

class VulkanFence final : public Fence {
 public:
  VulkanFence(std::shared_ptr<Context> context, uint64_t submission)
      : context_(std::move(context)), submission_(submission) {}
  Status Wait() override { return context_->Wait(submission_); }
  bool done() const override { return context_->IsDone(submission_); }

 private:
  const std::shared_ptr<Context> context_;
  const uint64_t submission_;
};

DeviceLimits LimitsOf(const PhysicalDevice& physical, bool separate_memory) {
  constexpr uint32_t kParameterBytes = 8;
  const VkPhysicalDeviceLimits& limits = physical.features->limits();
  DeviceLimits result;
  result.shares_memory =
      physical.memory_types.shares_memory && !separate_memory;
  result.binding_alignment = static_cast<int64_t>(
      std::max<VkDeviceSize>({limits.minStorageBufferOffsetAlignment,
                              limits.minTexelBufferOffsetAlignment, 1}));
  result.binding_bytes = limits.maxStorageBufferRange;
  result.binding_count = static_cast<int>(
      std::min<uint32_t>({limits.maxPerStageDescriptorStorageBuffers,
                          limits.maxDescriptorSetStorageBuffers,
                          limits.maxPerStageResources, INT_MAX}));
  result.parameter_count =
      static_cast<int>(limits.maxPushConstantsSize / kParameterBytes);
  for (size_t i = 0; i < result.chunks.size(); ++i) {
    result.chunks[i] = std::min<int64_t>(limits.maxComputeWorkGroupCount[i],
                                         DeviceLimits::kMaxChunks);
  }
  return result;
}

class VulkanDevice final : public Device {
 public:
  VulkanDevice(std::shared_ptr<Context> context, const DeviceOptions& options)
      : context_(std::move(context)),
        target_(context_->physical().features->Target()),
        limits_(LimitsOf(context_->physical(), options.separate_memory)),
        memory_(*context_),
        counter_(options.memory_limit),
        pipeline_cache_(*context_, options.cache_folder) {
    if (options.host_runner == nullptr) pool_.emplace(options.threads);
    runner_ = options.host_runner != nullptr ? options.host_runner : &*pool_;
  }

  // Makes the members whose creation may fail, which the constructor cannot
  // report.
  Status Start() {
    EMBER_ASSIGN_OR_RETURN(fill_bytes_, FillBytes::Create(*context_, memory_));
    return OkStatus();
  }

  std::string_view driver() const override { return "vulkan"; }
  std::string_view target() const override { return target_; }
  DeviceLimits limits() const override { return limits_; }

  StatusOr<std::unique_ptr<Buffer>> Allocate(int64_t size,
                                             MemoryKind kind) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    const bool shows_host =
        limits_.shares_memory || kind == MemoryKind::kHostVisible;
    EMBER_RETURN_IF_ERROR(counter_.Take(size, /*is_hidden=*/!shows_host));
    StatusOr<std::unique_ptr<VulkanBuffer>> buffer =
        VulkanBuffer::Create(*context_, memory_, size, kind, shows_host);
    if (!buffer.ok()) {
      counter_.Give(size, /*is_hidden=*/!shows_host);
      return buffer.status();
    }
    (*buffer)->CountIn(counter_);
    if (shows_host) {
      std::memset((*buffer)->host_data(), 0, static_cast<size_t>(size));
    } else {
      EMBER_RETURN_IF_ERROR(ZeroOnDevice(**buffer));
    }
    return std::unique_ptr<Buffer>(*std::move(buffer));
  }
  MemoryStatistics memory_statistics() const override {
    return counter_.statistics();
  }

  StatusOr<std::unique_ptr<Executable>> LoadExecutable(
      const ExecutableDefinition& definition) override {
    EMBER_RETURN_IF_ERROR(context_->Alive());
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<VulkanExecutable> executable,
        VulkanExecutable::Load(*context_, pipeline_cache_.handle(), limits_,
                               definition));
    pipeline_cache_.NoteUse();
    return std::unique_ptr<Executable>(std::move(executable));
  }
  StatusOr<std::unique_ptr<CommandList>> CreateCommandList() override {
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<VulkanCommandList> list,
        VulkanCommandList::Create(*context_, limits_, *fill_bytes_));
    return std::unique_ptr<CommandList>(std::move(list));
  }
  StatusOr<std::unique_ptr<Fence>> Submit(const CommandList& list) override {
    EMBER_ASSIGN_OR_RETURN(
        const uint64_t submission,
        static_cast<const VulkanCommandList&>(list).Submit());
    return std::unique_ptr<Fence>(
        std::make_unique<VulkanFence>(context_, submission));
  }
  ParallelRunner& host_runner() override { return *runner_; }

 private:
  struct Zeroing {
    uint64_t submission;
    std::unique_ptr<VulkanCommandList> list;
  };

  // Zeroes a buffer on the device. The host does not wait for the end: later
  // submissions see the zeros.
  Status ZeroOnDevice(VulkanBuffer& buffer) {
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<VulkanCommandList> list,
        VulkanCommandList::Create(*context_, limits_, *fill_bytes_));
    EMBER_RETURN_IF_ERROR(list->Fill({&buffer, 0, buffer.size()}, 0));
    EMBER_ASSIGN_OR_RETURN(const uint64_t submission, list->Submit());
    buffer.set_zeroing(submission);
    const std::lock_guard<std::mutex> lock(zeroings_mutex_);
    while (!zeroings_.empty() && context_->IsDone(zeroings_.front().submission))
      zeroings_.pop_front();
    zeroings_.push_back({submission, std::move(list)});
    return OkStatus();
  }

  const std::shared_ptr<Context> context_;
  const std::string target_;
  const DeviceLimits limits_;
  DeviceMemory memory_;
  MemoryCounter counter_;
  PipelineCache pipeline_cache_;
  std::unique_ptr<FillBytes> fill_bytes_;
  std::optional<ThreadPool> pool_;
  ParallelRunner* runner_ = nullptr;

  std::mutex zeroings_mutex_;
  std::deque<Zeroing>
      // Command lists that zero new buffers, with the numbers of their
      // submissions. They are destroyed when they are complete.
      zeroings_;
};

}  // namespace
}  // namespace vulkan

StatusOr<std::shared_ptr<Device>> CreateVulkanDevice(
    int index, const DeviceOptions& options) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<vulkan::Instance> instance,
                         vulkan::Instance::Create(options.validate));
  const size_t count = instance->devices().size();
  if (index < 0 || static_cast<size_t>(index) >= count) {
    return NotFoundError(
        Concat({"expected a device below ", count, ", found ", index}));
  }
  EMBER_ASSIGN_OR_RETURN(
      std::shared_ptr<vulkan::Context> context,
      vulkan::Context::Create(std::move(instance), static_cast<size_t>(index)));
  auto device =
      std::make_shared<vulkan::VulkanDevice>(std::move(context), options);
  EMBER_RETURN_IF_ERROR(device->Start());
  return std::shared_ptr<Device>(std::move(device));
}

StatusOr<std::vector<DeviceDescription>> ListVulkanDevices() {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<vulkan::Instance> instance,
                         vulkan::Instance::Create(/*validate=*/false));
  std::vector<DeviceDescription> descriptions;
  for (const vulkan::PhysicalDevice& device : instance->devices()) {
    descriptions.push_back(
        {.name = Concat({"vulkan:", descriptions.size()}),
         .text = device.name(),
         .target = device.features->Target(),
         .memory_bytes = vulkan::DeviceMemoryBytes(device.memory)});
  }
  return descriptions;
}

}  // namespace ember::hal
