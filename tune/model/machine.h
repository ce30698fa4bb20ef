// The properties of a CPU or a GPU from which cost models estimate the time of
// a loop nest, in the same form for both. Each multiprocessor of a GPU counts
// as a core, whose vectors have a lane for each invocation of a subgroup.
//
//   Machine machine = MachineOf(CpuModel::Of("x86_64-linux+avx2+fma"));
//   machine.Lanes(DType::kF32);   // 8
//
// Internal to NestFeatures. A value.
#ifndef EMBER_TUNE_MODEL_MACHINE_H_
#define EMBER_TUNE_MODEL_MACHINE_H_

#include <cstdint>

#include "base/dtype.h"
#include "jit/target/cpu_model.h"
#include "jit/target/gpu_model.h"

namespace ember::tune {

// Number of bytes of a cache line.
inline constexpr double kLineBytes = 64;

struct Machine {
  bool is_gpu = false;
  int64_t vector_bytes = 16;
  // Number of vector registers of a core, or of registers of a GPU's
  // invocation.
  int64_t vector_registers = 16;
  int64_t subgroup_size = 1;  // only for GPUs
  bool has_fma = false;
  bool has_masks = false;
  bool has_byte_dots = false;
  bool has_short_dots = false;
  bool has_bfloat_dots = false;
  bool has_matrices = false;
  // Sizes of the caches in bytes. For a GPU, l1_bytes is the size of a
  // workgroup's shared memory.
  double l1_bytes = 0;
  double l2_bytes = 0;
  double l3_bytes = 0;
  double cores = 1;  // number of threads, or of a GPU's multiprocessors

  // Returns the number of elements of this type that one vector instruction (on
  // a GPU, one instruction of a subgroup) handles.
  double Lanes(DType type) const;
};

Machine MachineOf(const jit::CpuModel& cpu);
Machine MachineOf(const jit::GpuModel& gpu);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_MACHINE_H_
