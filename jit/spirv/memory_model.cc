#include "jit/spirv/memory_model.h"

namespace ember::jit::spirv {
namespace {

using Semantics = spv::MemorySemanticsMask;

constexpr uint32_t Word(Semantics mask) { return static_cast<uint32_t>(mask); }

}  // namespace

void MemoryModel::Declare(ModuleBuilder& module) const {
  if (!is_vulkan_) return;
  module.Require(spv::Capability::VulkanMemoryModel);
  module.SetMemoryModel(spv::MemoryModel::Vulkan);
}

void MemoryModel::DecorateCoherent(ModuleBuilder& module, Id variable) const {
  if (!is_vulkan_) module.Decorate(variable, spv::Decoration::Coherent);
}

uint32_t MemoryModel::SharedAccess() const {
  return is_vulkan_
             ? static_cast<uint32_t>(spv::MemoryAccessMask::NonPrivatePointer)
             : 0;
}

uint32_t MemoryModel::BarrierSemantics(bool orders_device_memory,
                                       bool sees_device_memory) const {
  uint32_t semantics =
      Word(Semantics::AcquireRelease) | Word(Semantics::WorkgroupMemory);
  if (sees_device_memory || (is_vulkan_ && orders_device_memory))
    semantics |= Word(Semantics::UniformMemory);
  if (is_vulkan_) {
    semantics |= Word(Semantics::MakeAvailable) | Word(Semantics::MakeVisible);
  }
  return semantics;
}

spv::Scope MemoryModel::AtomicScope() const {
  return is_vulkan_ ? spv::Scope::QueueFamily : spv::Scope::Device;
}

}  // namespace ember::jit::spirv
