// A model of a CPU for schedules: vectors, registers, caches, cores.
//
//   CpuModel cpu = CpuModel::Of("x86_64-linux+avx2+fma+l2=1024K+cores=8");
//   cpu.Lanes(DType::kF32);   // 8
//
// The whole model comes from a target string (hal::Device::target()), so
// schedules can be made on another machine. hal::HostTarget() returns the
// string of this machine. A value.
#ifndef EMBER_JIT_TARGET_CPU_MODEL_H_
#define EMBER_JIT_TARGET_CPU_MODEL_H_

#include <cstdint>
#include <string_view>

#include "base/dtype.h"

namespace ember::jit {

struct CpuModel {
  int vector_bytes = 16;
  int vector_registers = 16;
  bool has_fma = false;
  // True if there are instructions that multiply and add 32-bit integers.
  bool has_integer_fma = false;
  // True if there are instructions for sums of 4 products of bytes
  // (has_byte_dots) and for sums of 2 products of 16-bit integers
  // (has_short_dots).
  bool has_byte_dots = false;
  bool has_short_dots = false;
  // True if there are instructions for sums of 4 products of an unsigned byte
  // and a small signed byte, one in -64..64 (jit/loops/analysis/dot_product.h).
  bool has_small_byte_dots = false;
  // True if there are instructions for sums of 2 products of bf16 that
  // accumulate in f32.
  bool has_bfloat_dots = false;
  // true if a masked store of some lanes is as fast as a store of all lanes
  bool has_masks = false;
  int64_t l1_bytes = 32 << 10;  // bytes of a core's first-level data cache
  int64_t l2_bytes = 512 << 10;
  int64_t l3_bytes = 8 << 20;
  int cores = 1;

  // Returns the model of a target. Facts that its text leaves out keep the
  // defaults of the members.
  static CpuModel Of(std::string_view target);

  // Number of elements of the type in a vector; at least 1.
  int Lanes(DType type) const;
  // Returns the number of lanes for `neighbours` elements of `bytes` bytes each
  // that are next to each other. This is the number of lanes of a vector, or of
  // the shortest half, quarter and so on of a vector that holds all neighbours:
  // instructions for a part cost no more, and need no mask to store a full
  // part. 1 means no vector: there is only one neighbour, or the neighbours
  // would fill less than half of the shortest part.
  int64_t LanesFor(int64_t bytes, int64_t neighbours) const;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_CPU_MODEL_H_
