// A model of a GPU for schedules: invocations, registers, memory that a
// workgroup shares.
//
//   GpuModel gpu = GpuModel::Of("vulkan1.3+subgroup32+shared49152+"
//                               "invocations1024");
//   gpu.workgroup_size;   // 128
//
// The facts about a device come from the target string (hal/vulkan/features.h).
// Limits that it leaves out are those that Vulkan guarantees; other facts keep
// the defaults of the members. A value.
#ifndef EMBER_JIT_TARGET_GPU_MODEL_H_
#define EMBER_JIT_TARGET_GPU_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::jit {

struct GpuModel {
  // Number of invocations (CUDA: threads) that execute in lockstep: the size of
  // a subgroup (CUDA: warp).
  int64_t subgroup_size = 32;
  // The largest number of invocations in a workgroup (a thread block).
  int64_t max_invocations = 128;
  // Largest number of bytes of shared memory that one workgroup may use.
  int64_t shared_bytes = 16 << 10;
  // Number of 32-bit registers that a schedule may plan for one invocation's
  // accumulators and operands. With more, fewer invocations fit on a processor
  // at once, and its memory latency is no longer hidden.
  int64_t registers = 96;
  // Number of registers that a processor (SM) has for all its invocations
  // together; 0: not known.
  int64_t processor_registers = 0;
  // Returns the number of registers that each invocation has for sums and
  // operands, if `invocations` of them share one processor (SM). An
  // invocation's other registers hold addresses and counters.
  int64_t ShareOfRegisters(int64_t invocations) const;
  // Returns the number of invocations that fit on one processor (SM) if each
  // has `registers` registers for sums and operands.
  double InvocationsWith(double registers) const;
  // Returns the number of registers that a schedule may plan for one invocation
  // if a workgroup has `invocations` of them: `registers`, or the invocation's
  // share of the processor's registers if that is less.
  int64_t RegistersFor(int64_t invocations) const;
  // Number of invocations of a workgroup, unless tiling asks for another
  // number.
  int64_t workgroup_size = 128;
  // Number of invocations that must be resident to keep the whole device busy.
  int64_t busy_invocations = 32 << 10;
  // number of processors (SMs) of the device; 0: not known
  int64_t processors = 0;
  // Number of clocks until the value of a load from memory is available. An
  // estimate: 500 to 800 on devices of the 2020s.
  int64_t latency_clocks = 800;
  // True for Vulkan on a CPU, or on a GPU built like one: one thread runs a
  // workgroup, and each invocation is a lane of that thread's vectors. The
  // workgroup's memory is ordinary memory then, and a barrier spills all
  // registers.
  bool is_cpu_like = false;

  // True if a dot product of four bytes in a 32-bit word is as fast as a
  // multiply-add. False if the driver emulates it by unpacking the words:
  // separate products of bytes are then as fast (measured on lavapipe).
  bool has_dots = false;

  // True if an invocation can start an asynchronous copy from the device's
  // memory to that of the workgroup, and continue while the device copies.
  bool copies_async = false;

  // True if the back end overlays buffers in the workgroup's memory that are
  // not used at the same time: two such buffers take only the space of the
  // larger one.
  bool overlays_shared = false;

  // Types of the matrix products for which subgroups have instructions.
  std::vector<loops::MatrixType> matrices;

  // True if subgroups load matrices from the workgroup's memory equally fast in
  // row-major and column-major layout. If false, this holds only for elements
  // that the hardware transposes (TransposesMatricesOf in
  // jit/target/matrix_instructions.h); other matrices should be contiguous
  // along the axis that is summed over.
  bool transposes_matrices = true;

  static GpuModel Of(std::string_view target);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_GPU_MODEL_H_
