// The facts about a device that passes of jit/gpu depend on: sizes of
// workgroups, their memory, and what code for the device can do. Targets of
// back ends derive from this.
//
//   struct Target : gpu::DeviceTraits { ... };
//   EMBER_RETURN_IF_ERROR(gpu::MakeDeviceNest(target, nest));
//
// A value.
#ifndef EMBER_JIT_GPU_DEVICE_TRAITS_H_
#define EMBER_JIT_GPU_DEVICE_TRAITS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::jit::gpu {

struct DeviceTraits {
  // bytes of shared memory per workgroup; the default is what every Vulkan
  // device has
  int64_t shared_bytes = 16 << 10;
  // largest number of invocations per workgroup, in all and along x
  int64_t invocations = 128;
  // Largest number of loop iterations that one invocation may run in a phase,
  // in all its loops together.
  int64_t iterations = INT64_MAX;
  // True if an instruction can combine the values of a subgroup's invocations
  // to a sum, a minimum and so on. `subgroup_arithmetic`: for 32-bit integers
  // and f32. `combines_any_type`: for any type.
  bool subgroup_arithmetic = false;
  bool combines_any_type = false;
  int64_t subgroup_size = 1;
  // True if a workgroup whose invocations wait for each other at barriers must
  // consist of whole subgroups.
  bool has_whole_subgroups = false;
  // `keeps_elements`: true if elements have the same size in the workgroup's
  // memory as in the device's. Each buffer then begins at a multiple of
  // `shared_alignment`. If false, an element takes a whole word, as in a
  // register, or several elements are packed into a word.
  bool keeps_elements = false;
  int64_t shared_alignment = 1;
  // True if invocations can copy 4, 8 or 16 bytes to the workgroup's memory
  // while they do other work
  // (jit/gpu/asynchronous_copies.h).
  bool copies_async = false;
  // True if one invocation can copy boxes of tensors to the workgroup's memory
  // (jit/gpu/box_copies.h), and barriers can signal to other invocations that
  // the copy is complete.
  bool copies_boxes = false;
  // True if code moves neighbouring elements together only where the nest says
  // so (jit/gpu/mark_vectors.h).
  bool marks_vectors = false;
  // True if the device has dot products of four bytes in a word, and
  // marks_vectors is set.
  bool byte_dots = false;
  // True if fused multiply-adds of f32 may round twice, unless the nest marks
  // them as rounding once (jit/gpu/mark_short_sums.h).
  bool rounds_short_sums = false;
  int64_t processors = 0;  // number of processors; 0: not known
  // `matrices`: the types of matrix products that subgroups of the device can
  // compute, in the device's order. `uses_matrices`: true if kernels may use
  // them.
  std::vector<loops::MatrixType> matrices;
  bool uses_matrices = false;

  bool HasMatrix(const loops::MatrixType& type) const {
    return std::ranges::find(matrices, type) != matrices.end();
  }
};

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_TRAITS_H_
