#include "tune/model/machine.h"

#include <algorithm>

namespace ember::tune {

double Machine::Lanes(DType type) const {
  if (is_gpu) return static_cast<double>(subgroup_size);
  return static_cast<double>(
      std::max<int64_t>(1, vector_bytes / DTypeByteSize(type)));
}

Machine MachineOf(const jit::CpuModel& cpu) {
  return {.vector_bytes = cpu.vector_bytes,
          .vector_registers = cpu.vector_registers,
          .has_fma = cpu.has_fma,
          .has_masks = cpu.has_masks,
          .has_byte_dots = cpu.has_byte_dots || cpu.has_small_byte_dots,
          .has_short_dots = cpu.has_short_dots,
          .has_bfloat_dots = cpu.has_bfloat_dots,
          .l1_bytes = static_cast<double>(cpu.l1_bytes),
          .l2_bytes = static_cast<double>(cpu.l2_bytes),
          .l3_bytes = static_cast<double>(cpu.l3_bytes),
          .cores = static_cast<double>(std::max(cpu.cores, 1))};
}

Machine MachineOf(const jit::GpuModel& gpu) {
  // A GpuModel does not say how large the caches are, so common sizes are
  // assumed.
  constexpr double kSecondCache = 4 << 20;
  constexpr int64_t kProcessors = 16;
  return {.is_gpu = true,
          .vector_bytes = 4 * gpu.subgroup_size,
          .vector_registers = gpu.registers,
          .subgroup_size = gpu.subgroup_size,
          .has_fma = true,
          .has_masks = true,
          .has_byte_dots = gpu.has_dots,
          .has_matrices = !gpu.matrices.empty(),
          .l1_bytes = static_cast<double>(gpu.shared_bytes),
          .l2_bytes = kSecondCache,
          .l3_bytes = kSecondCache,
          .cores = static_cast<double>(gpu.processors > 0 ? gpu.processors
                                                          : kProcessors)};
}

}  // namespace ember::tune
