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
  // How many of them each invocation has for sums and operands, where so many
  // invocations are on a processor: the rest holds addresses and counters.
  int64_t ShareOfRegisters(int64_t invocations) const;
  // How many invocations have room on a processor, where each has so many of
  // them for sums and operands.
  double InvocationsWith(double registers) const;
  // How many a schedule may plan for an invocation of a workgroup of so many:
  // `registers`, or its share, if that is less.
  int64_t RegistersFor(int64_t invocations) const;
  // The number of invocations that a schedule gives a workgroup unless tiling
  // asks for another.
  int64_t workgroup_size = 128;
  // How many invocations must be in flight to keep the whole device busy.
  int64_t busy_invocations = 32 << 10;
  int64_t processors = 0;  // 0: not known
  // How many clocks a load from memory takes until its value is there. A guess:
  // 500 to 800 on devices of the 2020s.
  int64_t latency_clocks = 800;
  // Vulkan on a CPU, or a GPU built like one: a workgroup runs on one thread,
  // an invocation in a lane of its vectors. Memory of a workgroup is memory as
  // any other, and a barrier stores all registers.
  bool is_cpu_like = false;

  // Dot products of four bytes in a word, as fast as a multiply-add. Where
  // drivers take the words apart for them, products of bytes are as fast
  // without (measured on lavapipe).
  bool has_dots = false;

  // Whether invocations can begin copies from the device's memory to that of
  // the workgroup, and go on while the device copies.
  bool copies_async = false;

  // Whether the back end puts buffers that a workgroup uses one after the other
  // at one place of its memory, so that only the larger one counts.
  bool overlays_shared = false;

  // Products of matrices that subgroups have instructions for.
  std::vector<loops::MatrixType> matrices;

  // Whether subgroups load matrices as fast whichever way these lie in memory
  // of the workgroup; else those of the elements of TransposesMatricesOf
  // (jit/target/matrix_instructions.h) alone, and others are best where steps
  // of the sum lie together.
  bool transposes_matrices = true;

  static GpuModel Of(std::string_view target);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_GPU_MODEL_H_
