// Makes the compute pipeline for an executable of format "spirv"
// (hal/executable.h).
#ifndef EMBER_HAL_VULKAN_EXECUTABLE_H_
#define EMBER_HAL_VULKAN_EXECUTABLE_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/status.h"
#include "hal/device_limits.h"
#include "hal/executable.h"
#include "hal/vulkan/context.h"
#include "hal/vulkan/spirv_module.h"

namespace ember::hal::vulkan {

class VulkanExecutable final : public Executable {
 public:
  // Makes an executable. `cache` is a cache of compiled pipelines, or null.
  // `context` must outlive the executable. Errors: Unimplemented for a format
  // other than "spirv"; InvalidArgument if the code is no valid SPIR-V module
  // or needs a capability that the device lacks; ResourceExhausted if a limit
  // of the device is exceeded.
  static StatusOr<std::unique_ptr<VulkanExecutable>> Load(
      Context& context, VkPipelineCache cache, const DeviceLimits& limits,
      const ExecutableDefinition& definition);

  VkPipeline pipeline() const { return pipeline_.get(); }
  VkPipelineLayout layout() const { return layout_.get(); }
  // Returns the layout of the executable's descriptor set; null if there are no
  // bindings.
  VkDescriptorSetLayout set_layout() const { return set_layout_.get(); }
  // Returns for each binding the format of its texel buffer view;
  // VK_FORMAT_UNDEFINED for a storage buffer.
  const std::vector<VkFormat>& texel_formats() const { return texel_formats_; }

 private:
  explicit VulkanExecutable(const ExecutableDefinition& definition)
      : Executable(definition) {}
  Status SetFormats(const SpirvModule& module);
  Status MakeLayout(Context& context);

  std::vector<VkFormat> texel_formats_;

  OwnedSetLayout set_layout_;
  OwnedPipelineLayout layout_;
  OwnedPipeline pipeline_;
};

}  // namespace ember::hal::vulkan

#endif  // EMBER_HAL_VULKAN_EXECUTABLE_H_
