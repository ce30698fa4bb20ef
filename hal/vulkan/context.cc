#include "hal/vulkan/context.h"

#include "base/concat.h"
#include "hal/vulkan/loader.h"
#include "hal/vulkan/result.h"

namespace ember::hal::vulkan {
namespace {

// Number of nanoseconds after which a waiting thread wakes up to check if
// another thread has found that the device is lost.
constexpr uint64_t kWaitSliceNs = 100'000'000;

}  // namespace

StatusOr<std::shared_ptr<Context>> Context::Create(
    std::shared_ptr<Instance> instance, size_t index) {
  const PhysicalDevice& physical = instance->devices()[index];
  const InstanceFunctions& vk = instance->vk();
  const std::shared_ptr<Context> context(
      new Context(std::move(instance), physical));

  FeatureSet wanted;
  const float priority = 1;
  const VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
      .queueFamilyIndex = physical.queue_family,
      .queueCount = 1,
      .pQueuePriorities = &priority};
  VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                             .pNext = wanted.Request(*physical.features),
                             .queueCreateInfoCount = 1,
                             .pQueueCreateInfos = &queue};
  info.enabledExtensionCount =
      static_cast<uint32_t>(wanted.extensions().size());
  info.ppEnabledExtensionNames = wanted.extensions().data();
  VkDevice device = VK_NULL_HANDLE;
  EMBER_RETURN_IF_ERROR(context->Check(
      "vkCreateDevice",
      vk.CreateDevice(physical.handle, &info, nullptr, &device)));
  context->device_ = device;
  EMBER_ASSIGN_OR_RETURN(context->vk_, LoadFunctions(vk, device));
  context->vk_.GetDeviceQueue(device, physical.queue_family, 0,
                              &context->queue_);

  const VkSemaphoreTypeCreateInfo timeline = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
  const VkSemaphoreCreateInfo semaphore = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
  VkSemaphore made = VK_NULL_HANDLE;
  EMBER_RETURN_IF_ERROR(context->Check(
      "vkCreateSemaphore",
      context->vk_.CreateSemaphore(device, &semaphore, nullptr, &made)));
  context->timeline_ = made;
  return context;
}

Context::~Context() {
  if (device_ == VK_NULL_HANDLE || vk_.DestroyDevice == nullptr) return;
  // If the device is lost, this call returns an error, which is ignored because
  // there is nothing to wait for.
  vk_.DeviceWaitIdle(device_);
  vk_.DestroySemaphore(device_, timeline_, nullptr);
  vk_.DestroyDevice(device_, nullptr);
}

Status Context::Check(std::string_view call, VkResult result) {
  if (result >= 0) return OkStatus();
  Status status =
      ResultStatus(call, result)
          .WithContext(Concat(
              {"vulkan device '", physical_.properties().deviceName, "'"}));
  if (result != VK_ERROR_DEVICE_LOST) return status;
  return loss_.Note(status);
}

StatusOr<uint64_t> Context::Submit(std::span<const VkCommandBuffer> buffers) {
  EMBER_RETURN_IF_ERROR(Alive());
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  const uint64_t number = submitted_ + 1;
  const VkTimelineSemaphoreSubmitInfo values = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &number};
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .pNext = &values,
      .commandBufferCount = static_cast<uint32_t>(buffers.size()),
      .pCommandBuffers = buffers.data(),
      .signalSemaphoreCount = 1,
      .pSignalSemaphores = &timeline_};
  EMBER_RETURN_IF_ERROR(Check(
      "vkQueueSubmit", vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE)));
  submitted_ = number;
  return number;
}

void Context::NoteDone(uint64_t number) {
  uint64_t done = done_.load(std::memory_order_relaxed);
  while (done < number && !done_.compare_exchange_weak(
                              done, number, std::memory_order_release)) {
  }
}

Status Context::Wait(uint64_t number) {
  const VkSemaphoreWaitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
      .semaphoreCount = 1,
      .pSemaphores = &timeline_,
      .pValues = &number};
  while (number > done_.load(std::memory_order_acquire)) {
    EMBER_RETURN_IF_ERROR(Alive());
    const VkResult result = vk_.WaitSemaphores(device_, &info, kWaitSliceNs);
    EMBER_RETURN_IF_ERROR(Check("vkWaitSemaphores", result));
    if (result == VK_SUCCESS) NoteDone(number);
  }
  return OkStatus();
}

void Context::Finish(uint64_t number) {
  if (Wait(number).ok()) return;
  // Wait has failed. If that is because the device is lost, this call returns
  // at once; otherwise it waits until all work has ended.
  const std::lock_guard<std::mutex> lock(submit_mutex_);
  vk_.DeviceWaitIdle(device_);
}

bool Context::IsDone(uint64_t number) {
  if (number <= done_.load(std::memory_order_acquire)) return true;
  if (!Alive().ok()) return true;
  uint64_t value = 0;
  const VkResult result =
      vk_.GetSemaphoreCounterValue(device_, timeline_, &value);
  if (!Check("vkGetSemaphoreCounterValue", result).ok()) return !Alive().ok();
  NoteDone(value);
  return number <= value;
}

}  // namespace ember::hal::vulkan
