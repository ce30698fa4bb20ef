#include "hal/vulkan/command_list.h"

#include <algorithm>
#include <cstring>

#include "hal/vulkan/executable.h"

namespace ember::hal::vulkan {
namespace {

constexpr VkPipelineStageFlags kWork =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kWrites =
    VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kAccesses =
    kWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;

// Records a barrier: all earlier commands finish, and their writes become
// visible, before later commands start.
void RecordBarrier(const Context& context, VkCommandBuffer commands,
                   VkPipelineStageFlags stage, VkAccessFlags access) {
  const VkMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                   .srcAccessMask = kWrites,
                                   .dstAccessMask = access};
  context.vk().CmdPipelineBarrier(commands, kWork, stage, 0, 1, &barrier, 0,
                                  nullptr, 0, nullptr);
}

VkBuffer HandleOf(const BufferRange& range) {
  return static_cast<const VulkanBuffer*>(range.buffer)->handle();
}

}  // namespace

StatusOr<std::unique_ptr<FillBytes>> FillBytes::Create(Context& context,
                                                       DeviceMemory& memory) {
  constexpr int64_t kValues = 256;
  auto made = std::make_unique<FillBytes>();
  EMBER_ASSIGN_OR_RETURN(
      made->buffer_,
      VulkanBuffer::Create(context, memory, kValues * 4,
                           MemoryKind::kHostVisible, /*shows_host=*/true));
  uint8_t* const bytes = static_cast<uint8_t*>(made->buffer_->host_data());
  for (int value = 0; value < kValues; ++value)
    std::memset(bytes + OffsetOf(static_cast<uint8_t>(value)), value, 4);
  return made;
}

StatusOr<std::unique_ptr<VulkanCommandList>> VulkanCommandList::Create(
    Context& context, const DeviceLimits& limits, const FillBytes& fill_bytes) {
  EMBER_RETURN_IF_ERROR(context.Alive());
  std::unique_ptr<VulkanCommandList> list(
      new VulkanCommandList(context, limits, fill_bytes));
  const VkCommandPoolCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
      .queueFamilyIndex = context.physical().queue_family};
  EMBER_ASSIGN_OR_RETURN(
      list->pool_,
      vulkan::Create<OwnedCommandPool>(context, "vkCreateCommandPool",
                                       context.vk().CreateCommandPool, info));
  return list;
}

VulkanCommandList::~VulkanCommandList() { context_.Finish(last_submission_); }

StatusOr<VkCommandBuffer> VulkanCommandList::Open() {
  const std::lock_guard<std::mutex> lock(mutex_);
  EMBER_RETURN_IF_ERROR(problem_);
  if (is_open_) return buffers_.back();
  const VkCommandBufferAllocateInfo info = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
      .commandPool = pool_.get(),
      .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
      .commandBufferCount = 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  EMBER_RETURN_IF_ERROR(context_.Check(
      "vkAllocateCommandBuffers", context_.vk().AllocateCommandBuffers(
                                      context_.device(), &info, &commands)));
  const VkCommandBufferBeginInfo begin = {
      .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
      // This flag allows the command buffer to be submitted again while an
      // earlier submission of it still runs.
      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
  EMBER_RETURN_IF_ERROR(
      context_.Check("vkBeginCommandBuffer",
                     context_.vk().BeginCommandBuffer(commands, &begin)));
  if (buffers_.empty()) RecordBarrier(context_, commands, kWork, kAccesses);
  buffers_.push_back(commands);
  is_open_ = true;
  return commands;
}

Status VulkanCommandList::Close() const {
  if (!problem_.ok() || !is_open_) return problem_;
  RecordBarrier(context_, buffers_.back(), VK_PIPELINE_STAGE_HOST_BIT,
                VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
  problem_ = context_.Check("vkEndCommandBuffer",
                            context_.vk().EndCommandBuffer(buffers_.back()));
  is_open_ = false;
  return problem_;
}

StatusOr<uint64_t> VulkanCommandList::Submit() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  EMBER_RETURN_IF_ERROR(Close());
  EMBER_ASSIGN_OR_RETURN(last_submission_, context_.Submit(buffers_));
  return last_submission_;
}

Status VulkanCommandList::Barrier() {
  EMBER_ASSIGN_OR_RETURN(const VkCommandBuffer commands, Open());
  RecordBarrier(context_, commands, kWork, kAccesses);
  return OkStatus();
}

void VulkanCommandList::CopyRegion(VkCommandBuffer commands, VkBuffer source,
                                   VkDeviceSize source_offset, VkBuffer target,
                                   VkDeviceSize target_offset,
                                   VkDeviceSize bytes) {
  if (bytes == 0) return;
  const VkBufferCopy region = {source_offset, target_offset, bytes};
  context_.vk().CmdCopyBuffer(commands, source, target, 1, &region);
}

Status VulkanCommandList::Copy(const BufferRange& source,
                               const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckCopy(source, target));
  EMBER_ASSIGN_OR_RETURN(const VkCommandBuffer commands, Open());
  CopyRegion(commands, HandleOf(source),
             static_cast<VkDeviceSize>(source.offset), HandleOf(target),
             static_cast<VkDeviceSize>(target.offset),
             static_cast<VkDeviceSize>(source.length));
  return OkStatus();
}

// Fills any range of the buffer. vkCmdFillBuffer fills multiples of 4 bytes
// only; the bytes before and after these are copied from FillBytes.
Status VulkanCommandList::Fill(const BufferRange& target, uint8_t value) {
  EMBER_RETURN_IF_ERROR(CheckRange("target of a fill", target));
  EMBER_ASSIGN_OR_RETURN(const VkCommandBuffer commands, Open());
  const VkBuffer buffer = HandleOf(target);
  const VkDeviceSize begin = static_cast<VkDeviceSize>(target.offset);
  const VkDeviceSize end = begin + static_cast<VkDeviceSize>(target.length);
  const VkDeviceSize first = std::min((begin + 3) & ~VkDeviceSize{3}, end);
  const VkDeviceSize last = std::max(end & ~VkDeviceSize{3}, first);
  const VkDeviceSize pattern = FillBytes::OffsetOf(value);
  CopyRegion(commands, fill_bytes_.buffer(), pattern, buffer, begin,
             first - begin);
  if (first < last) {
    context_.vk().CmdFillBuffer(commands, buffer, first, last - first,
                                uint32_t{0x01010101} * value);
  }
  CopyRegion(commands, fill_bytes_.buffer(), pattern, buffer, last, end - last);
  return OkStatus();
}

StatusOr<VkBufferView> VulkanCommandList::ViewOf(
    const VkDescriptorBufferInfo& range, VkFormat format) {
  const VkBufferViewCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
      .buffer = range.buffer,
      .format = format,
      .offset = range.offset,
      .range = range.range};
  EMBER_ASSIGN_OR_RETURN(
      OwnedBufferView view,
      vulkan::Create<OwnedBufferView>(context_, "vkCreateBufferView",
                                      context_.vk().CreateBufferView, info));
  views_.push_back(std::move(view));
  return views_.back().get();
}

Status VulkanCommandList::Dispatch(const Executable& executable,
                                   const DispatchArguments& arguments) {
  EMBER_RETURN_IF_ERROR(CheckDispatch(executable, arguments, limits_));
  EMBER_ASSIGN_OR_RETURN(const VkCommandBuffer commands, Open());
  const DeviceFunctions& vk = context_.vk();
  const auto& code = static_cast<const VulkanExecutable&>(executable);
  if (!arguments.bindings.empty()) {
    std::vector<DescriptorSets::Binding> bindings;
    bindings.reserve(arguments.bindings.size());
    for (const BufferRange& range : arguments.bindings) {
      const VkFormat format = code.texel_formats()[bindings.size()];
      // Vulkan does not allow empty ranges. For an empty binding some bytes of
      // fill_bytes_ are bound, which the kernel does not access.
      const bool is_empty = range.length == 0;
      DescriptorSets::Binding& binding = bindings.emplace_back();
      binding.buffer = {
          .buffer = is_empty ? fill_bytes_.buffer() : HandleOf(range),
          .offset = is_empty ? 0 : static_cast<VkDeviceSize>(range.offset),
          .range = is_empty ? 16 : static_cast<VkDeviceSize>(range.length)};
      if (format == VK_FORMAT_UNDEFINED) continue;
      EMBER_ASSIGN_OR_RETURN(binding.view, ViewOf(binding.buffer, format));
    }
    EMBER_ASSIGN_OR_RETURN(const VkDescriptorSet set,
                           sets_.Make(code.set_layout(), bindings));
    vk.CmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                             code.layout(), 0, 1, &set, 0, nullptr);
  }
  if (!arguments.parameters.empty()) {
    vk.CmdPushConstants(
        commands, code.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
        static_cast<uint32_t>(arguments.parameters.size_bytes()),
        arguments.parameters.data());
  }
  vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, code.pipeline());
  vk.CmdDispatch(commands, static_cast<uint32_t>(arguments.chunks[0]),
                 static_cast<uint32_t>(arguments.chunks[1]),
                 static_cast<uint32_t>(arguments.chunks[2]));
  return OkStatus();
}

}  // namespace ember::hal::vulkan
