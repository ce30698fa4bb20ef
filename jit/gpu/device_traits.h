// What the plan of a phase has to know about a device: sizes of workgroups,
// their memory, and what code for it can do. Targets of back ends derive from
// this.
//
//   struct Target : gpu::DeviceTraits { ... };
//   EMBER_ASSIGN_OR_RETURN(PhasePlan plan, gpu::PlanPhase(nest, phase, target));
//
// A value.
#ifndef EMBER_JIT_GPU_DEVICE_TRAITS_H_
#define EMBER_JIT_GPU_DEVICE_TRAITS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "jit/loops/matrix_operation.h"

namespace ember::jit::gpu {

struct DeviceTraits {
  int64_t shared_bytes = 16 << 10;  // of a workgroup; what Vulkan guarantees
  int64_t invocations = 128;        // most in a workgroup, and along x
  int64_t iterations = INT64_MAX;   // most of all loops of an invocation
  // Sums, minima and so on of the values of a subgroup, which has so many
  // invocations: of 32-bit integers and f32, or of any type.
  bool subgroup_arithmetic = false;
  bool combines_any_type = false;
  int64_t subgroup_size = 1;
  // A workgroup whose invocations wait for each other at barriers is made of
  // whole subgroups.
  bool has_whole_subgroups = false;
  // Elements in memory of the workgroup are as they are in the device's memory,
  // and each buffer there begins at a multiple of shared_alignment. Else they
  // are as in registers, or several in a word.
  bool keeps_elements = false;
  int64_t shared_alignment = 1;
  // One invocation copies boxes of tensors to the workgroup's memory
  // (jit/gpu/box_copies.h), and barriers tell others when they are there.
  bool copies_boxes = false;
  int64_t processors = 0;  // 0: not known
  // Products of matrices by subgroups, in the device's order; and whether code
  // may use them at all.
  std::vector<loops::MatrixType> matrices;
  bool uses_matrices = false;

  bool HasMatrix(const loops::MatrixType& type) const {
    return std::ranges::find(matrices, type) != matrices.end();
  }
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_TRAITS_H_
