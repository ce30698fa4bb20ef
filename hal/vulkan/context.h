// A Vulkan device, its single queue, and the timeline semaphore that counts its
// submissions.
//
//   EMBER_ASSIGN_OR_RETURN(const uint64_t number, context->Submit(buffers));
//   EMBER_RETURN_IF_ERROR(context->Wait(number));
//
// Submissions are numbered 1, 2, …, in the order in which they run. Once a call
// finds that the device is lost, every later call returns the same
// FailedPrecondition, no call waits any more, and all objects can still be
// destroyed. Thread-safe.
#ifndef EMBER_HAL_VULKAN_CONTEXT_H_
#define EMBER_HAL_VULKAN_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "hal/device_loss.h"
#include "hal/vulkan/functions.h"
#include "hal/vulkan/instance.h"

namespace ember::hal::vulkan {

class Context {
 public:
  // Creates the device. `index` is an index into instance->devices().
  static StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<Instance> instance, size_t index);
  // Waits until the queue is idle or the device is lost, then destroys the
  // device.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const DeviceFunctions& vk() const { return vk_; }
  VkDevice device() const { return device_; }
  const PhysicalDevice& physical() const { return physical_; }
  const VkPhysicalDeviceLimits& limits() const {
    return physical_.properties().limits;
  }

  // Converts the result of the Vulkan call `call` to a status with the device's
  // name. If the result says that the device is lost, the loss is recorded.
  Status Check(std::string_view call, VkResult result);
  // Returns OK if the device can be used; otherwise the error with which it was
  // lost.
  Status Alive() const { return loss_.status(); }

  // Submits command buffers and returns the number of the submission. The
  // submission starts after all earlier submissions have started. If it must
  // wait until they have ended, its command buffers must begin with a barrier.
  StatusOr<uint64_t> Submit(std::span<const VkCommandBuffer> buffers);
  // Waits until the submission with this number, and so every earlier one, is
  // complete. 0 means that there is nothing to wait for.
  Status Wait(uint64_t number);
  bool IsDone(uint64_t number);
  // Waits for the submission and ignores errors, for destructors. If the device
  // is lost, no work runs any more and so the function returns.
  void Finish(uint64_t number);

 private:
  Context(std::shared_ptr<Instance> instance, const PhysicalDevice& physical)
      : instance_(std::move(instance)), physical_(physical) {}
  void NoteDone(uint64_t number);

  const std::shared_ptr<Instance> instance_;
  const PhysicalDevice& physical_;  // the physical device, which the instance
                                    // owns
  DeviceFunctions vk_;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  // Number of the latest submission that is known to be complete. All earlier
  // ones are complete, too.
  std::atomic<uint64_t> done_{0};

  std::mutex submit_mutex_;  // guards queue_ and submitted_
  uint64_t submitted_ = 0;

  DeviceLoss loss_;
};

// Owns a Vulkan object of a device and destroys it with kDestroy.
//   Owned<VkBuffer, &DeviceFunctions::DestroyBuffer> buffer(context, handle);
template <typename Handle, auto kDestroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Context& context, Handle handle)
      : context_(&context), handle_(handle) {}
  Owned(Owned&& other) noexcept { *this = std::move(other); }
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != VK_NULL_HANDLE)
      (context_->vk().*kDestroy)(context_->device(), handle_, nullptr);
  }
  Handle get() const { return handle_; }

 private:
  const Context* context_ = nullptr;
  Handle handle_ = VK_NULL_HANDLE;
};

// Makes an object with one of Vulkan's vkCreate functions:
//   Create<OwnedBuffer>(context, "vkCreateBuffer", vk.CreateBuffer, info)
template <typename OwnedObject, typename Function, typename Info>
StatusOr<OwnedObject> Create(Context& context, std::string_view call,
                             Function* function, const Info& info) {
  decltype(std::declval<OwnedObject>().get()) handle = VK_NULL_HANDLE;
  const VkResult result = function(context.device(), &info, nullptr, &handle);
  EMBER_RETURN_IF_ERROR(context.Check(call, result));
  return OwnedObject(context, handle);
}

using OwnedBuffer = Owned<VkBuffer, &DeviceFunctions::DestroyBuffer>;
using OwnedBufferView =
    Owned<VkBufferView, &DeviceFunctions::DestroyBufferView>;
using OwnedMemory = Owned<VkDeviceMemory, &DeviceFunctions::FreeMemory>;
using OwnedPipeline = Owned<VkPipeline, &DeviceFunctions::DestroyPipeline>;
using OwnedPipelineCache =
    Owned<VkPipelineCache, &DeviceFunctions::DestroyPipelineCache>;
using OwnedPipelineLayout =
    Owned<VkPipelineLayout, &DeviceFunctions::DestroyPipelineLayout>;
using OwnedSetLayout =
    Owned<VkDescriptorSetLayout, &DeviceFunctions::DestroyDescriptorSetLayout>;
using OwnedDescriptorPool =
    Owned<VkDescriptorPool, &DeviceFunctions::DestroyDescriptorPool>;
using OwnedCommandPool =
    Owned<VkCommandPool, &DeviceFunctions::DestroyCommandPool>;
using OwnedShaderModule =
    Owned<VkShaderModule, &DeviceFunctions::DestroyShaderModule>;

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_CONTEXT_H_
