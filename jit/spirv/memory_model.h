// Declares in a module which stores are visible to other invocations, in terms
// of one of two memory models: Vulkan's if the target has `vulkan_memory_model`
// (SPV_KHR_vulkan_memory_model, part of SPIR-V 1.5; cooperative matrices need
// it), else GLSL450's.
//
//                          GLSL450                 Vulkan
//   memory of the          no decoration           accesses are NonPrivate
//   workgroup
//   device memory that     Coherent variables      accesses are NonPrivate
//   others look at
//   barriers               AcquireRelease          and MakeAvailable,
//                                                  MakeVisible
//   scope of atomics       Device                  QueueFamily: there is one
//                                                  queue; Device is a feature
//
// Barriers order NonPrivate accesses of different invocations, and make stores
// visible; a single load or store does not. In Vulkan's model, views of one
// binding as arrays of different types are one reference: a reference is what
// the descriptor refers to.
//
// A value. Thread-safe.
#ifndef EMBER_JIT_SPIRV_MEMORY_MODEL_H_
#define EMBER_JIT_SPIRV_MEMORY_MODEL_H_

#include <cstdint>

#include "jit/spirv/module_builder.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

class MemoryModel {
 public:
  explicit MemoryModel(const Target& target)
      : is_vulkan_(target.vulkan_memory_model) {}

  // Declares the memory model. Called once per module.
  void Declare(ModuleBuilder& module) const;
  // Decorates a variable of device memory, if the model needs that, so that
  // invocations see each other's stores to it.
  void DecorateCoherent(ModuleBuilder& module, Id variable) const;
  // Returns the memory operands of loads and stores that barriers must order
  // between invocations; 0: no operands.
  uint32_t SharedAccess() const;
  // Returns the memory semantics of a barrier. orders_device_memory: the
  // barrier also orders accesses to device memory that have SharedAccess.
  // sees_device_memory: it also makes stores to device memory visible.
  uint32_t BarrierSemantics(bool orders_device_memory,
                            bool sees_device_memory) const;
  // Returns the SPIR-V scope for atomic operations on device memory.
  spv::Scope AtomicScope() const;

 private:
  bool is_vulkan_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MEMORY_MODEL_H_
