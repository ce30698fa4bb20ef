// What schedules need to know about a CPU: vectors, registers, caches, cores.
//
//   CpuModel cpu = CpuModel::Of("x86_64-linux+avx2+fma+l2=1024K+cores=8");
//   cpu.Lanes(DType::kF32);   // 8
//
// All of it comes from the target string (hal::Device::target()), which can be
// written down and used on another machine: hal::HostTarget() describes the one
// that it runs on. A value.
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
  bool has_integer_fma = false;  // of 32 bits
  // Instructions for sums of 4 products of bytes, and of 2 of 16-bit integers.
  bool has_byte_dots = false;
  bool has_short_dots = false;
  // Of 4 products of unsigned bytes and small ones (jit/loops/dot_product.h).
  bool has_small_byte_dots = false;
  // Of 2 products of bf16, in f32.
  bool has_bfloat_dots = false;
  bool has_masks = false;       // some lanes are stored as quickly as all
  int64_t l1_bytes = 32 << 10;  // data, per core
  int64_t l2_bytes = 512 << 10;
  int64_t l3_bytes = 8 << 20;
  int cores = 1;

  // What the string does not tell is as above.
  static CpuModel Of(std::string_view target);

  // Elements of the type in a vector; at least 1.
  int Lanes(DType type) const;
  // Lanes for so many neighbours of `bytes` each: a vector's, or those of the
  // shortest part of one that holds all of them, as instructions of a part cost
  // no more and store without a mask what it holds whole. 1: none, as less than
  // half of the shortest would be used.
  int64_t LanesFor(int64_t bytes, int64_t neighbours) const;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_CPU_MODEL_H_
