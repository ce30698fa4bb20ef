// How a module says which invocations see what others stored, in the words of
// one of two memory models: Vulkan's where the target has `vulkan_memory_model`
// (SPV_KHR_vulkan_memory_model, part of SPIR-V 1.5; cooperative matrices need
// it), else GLSL450's.
//
//                          GLSL450                 Vulkan
//   memory of the          as it is                accesses are NonPrivate
//   workgroup
//   device memory that     Coherent variables      accesses are NonPrivate
//   others look at
//   where invocations      AcquireRelease          and MakeAvailable,
//   meet                                           MakeVisible
//   scope of atomics       Device                  QueueFamily: there is one
//                                                  queue; Device is a feature
//
// An access that is NonPrivate is ordered with those of other invocations by
// the barriers between them, which also make what was stored visible; no single
// load or store does that. Views of one binding as arrays of different types
// are one reference there, as a reference is what the descriptor stands for.
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

  // Once per module.
  void Declare(ModuleBuilder& module) const;
  // A variable of device memory in which invocations see what others stored.
  void DecorateCoherent(ModuleBuilder& module, Id variable) const;
  // Memory operands of loads and stores that barriers order with those of other
  // invocations; 0: none.
  uint32_t SharedAccess() const;
  // Of a barrier. orders_device_memory: of accesses to it, too, that are
  // SharedAccess; sees_device_memory: and what was stored there is seen.
  uint32_t BarrierSemantics(bool orders_device_memory,
                            bool sees_device_memory) const;
  // Of atomic operations on device memory.
  spv::Scope AtomicScope() const;

 private:
  bool is_vulkan_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_MEMORY_MODEL_H_
