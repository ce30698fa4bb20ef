// What schedules need to know about a GPU: invocations, registers, memory that
// a workgroup shares.
//
//   GpuModel gpu = GpuModel::Of("vulkan1.3+subgroup32+shared49152+"
//                               "invocations1024");
//   gpu.workgroup_size;   // 128
//
// What a device tells comes from the target string (hal/vulkan/features.h);
// where it tells nothing, the least that Vulkan guarantees. A value.
#ifndef EMBER_JIT_TARGET_GPU_MODEL_H_
#define EMBER_JIT_TARGET_GPU_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "jit/loops/matrix_operation.h"

namespace ember::jit {

struct GpuModel {
  // How many invocations (CUDA: threads) execute in step: a subgroup (a warp).
  int64_t subgroup_size = 32;
  // The largest number of invocations in a workgroup (a thread block).
  int64_t max_invocations = 128;
  // Bytes of shared memory that one workgroup may use.
  int64_t shared_bytes = 16 << 10;
  // How many 32-bit registers a schedule may plan for one invocation's
  // accumulators and operands. With more, fewer invocations fit on a processor
  // at once, and its memory latency is no longer hidden.
  int64_t registers = 96;
  // The registers that the invocations of a processor have together; 0: not
  // known.
  int64_t processor_registers = 0;
  // What a schedule may plan for each of so many invocations of a workgroup:
  // `registers`, or fewer, so that they and what indices take are there.
  int64_t RegistersFor(int64_t invocations) const;
  // The number of invocations that a schedule gives a workgroup unless tiling
  // asks for another.
  int64_t workgroup_size = 128;
  // How many invocations must be in flight to keep the whole device busy.
  int64_t busy_invocations = 32 << 10;
  // Vulkan on a CPU, or a GPU built like one: a workgroup runs on one thread,
  // an invocation in a lane of its vectors. Memory of a workgroup is memory as
  // any other, and a barrier stores all registers.
  bool is_cpu_like = false;

  // Dot products of four bytes in a word, as fast as a multiply-add. Where
  // drivers take the words apart for them, products of bytes are as fast
  // without (measured on lavapipe).
  bool has_dots = false;

  // Copies to a workgroup's memory that invocations begin and do not wait for.
  bool copies_async = false;

  // What a workgroup needs of its memory at different times may be in one
  // place.
  bool overlays_shared = false;

  // Products of matrices that subgroups have instructions for.
  std::vector<loops::MatrixType> matrices;

  static GpuModel Of(std::string_view target);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_GPU_MODEL_H_
